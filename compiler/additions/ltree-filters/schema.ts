import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { ltreeForm } from './facts.ts'

export const ltreeFilters: SchemaAddition = { name: 'ltreeFilters', forms: [ltreeForm] }
