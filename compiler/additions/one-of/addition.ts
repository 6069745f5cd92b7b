import { tableAddition } from '../addition.ts'
import './facts.ts'

/** Inputs that say that they take exactly one member (spec/graphql.md 17). */
export const oneOf = tableAddition(
  'oneOf',
  'marks its inputs as @oneOf of which exactly one member makes sense, such as those of orders',
  { marks: ['oneOf'] },
)
