import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { networkForm } from './facts.ts'

export const networkFilters: SchemaAddition = { name: 'networkFilters', forms: [networkForm] }
