import { conditionsOnColumns } from '../../comments/additions.ts'
import { keyAddition } from '../addition.ts'
import { relationFacts } from './facts.ts'

/** The rows of a relation's collections where no filter is given (spec/graphql.md 17.5). */
export const defaultFilter = keyAddition(
  'defaultFilter',
  {
    on: ['relation'],
    decode: conditionsOnColumns,
    help:
      '{"column": {"operator": value}}, with is ("NULL" or "NOT_NULL"), eq, neq, lt, lte, gt, gte or in: the rows that its ' +
      'collections have where no filter is given.',
  },
  { relationFacts },
)
