import { keyAddition } from '../addition.ts'
import { limitsOfDocument } from './decode.ts'
import { manifestFacts } from './facts.ts'

/** The most that one document may select and cost (spec/graphql.md 17). */
export const limits = keyAddition(
  'limits',
  {
    on: ['schema'],
    decode: limitsOfDocument,
    help:
      '{"fields": n, "rows": n, "cost": n}: the most that one document may select, and that Postgres may estimate it ' +
      'to cost, found out before anything runs.',
  },
  { manifestFacts },
)
