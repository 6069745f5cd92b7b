import { tableAddition } from '../addition.ts'
import { networkForm } from './facts.ts'

/** Conditions on addresses and networks (spec/graphql.md 17.1). */
export const networkFilters = tableAddition(
  'networkFilters',
  'filters its inet and cidr columns by what they contain',
  { forms: [networkForm] },
)
