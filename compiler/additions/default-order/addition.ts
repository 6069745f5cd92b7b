import { keyAddition } from '../addition.ts'
import { orderOfColumns } from './decode.ts'
import { relationFacts } from './facts.ts'

/** The order of a relation's collections where none is asked for (spec/graphql.md 17.5). */
export const defaultOrder = keyAddition(
  'defaultOrder',
  {
    on: ['relation'],
    decode: orderOfColumns,
    help:
      'a list of {"column": "AscNullsFirst" | "AscNullsLast" | "DescNullsFirst" | "DescNullsLast"}: the order of its ' +
      'collections where none is asked for.',
  },
  { relationFacts },
)
