import { keyAddition } from '../addition.ts'
import { pathsByName } from './decode.ts'
import { linkedRelations } from './facts.ts'

/** Relations over several others (spec/graphql.md 17.8). */
export const links = keyAddition(
  'links',
  {
    on: ['relation'],
    decode: pathsByName,
    help:
      '{"name": ["relation", {"relation": {"column": {"operator": value}}}, ...]}: fields that lead over several ' +
      'relations, to rows that meet conditions.',
  },
  { relations: linkedRelations },
)
