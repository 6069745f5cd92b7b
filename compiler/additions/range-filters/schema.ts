import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { rangeForms } from './facts.ts'

export const rangeFilters: SchemaAddition = { name: 'rangeFilters', forms: rangeForms }
