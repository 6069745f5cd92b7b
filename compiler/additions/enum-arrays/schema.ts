import type { SchemaAddition } from '../../../runtime/engine/additions.ts'

export const enumArrays: SchemaAddition = { name: 'enumArrays', enumLists: true }
