import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { textForms } from './facts.ts'

export const textFilters: SchemaAddition = { name: 'textFilters', forms: textForms }
