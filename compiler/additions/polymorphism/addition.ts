import { keyAddition } from '../addition.ts'
import { abstractTypes } from './decode.ts'
import { columnFacts, relationFacts } from './facts.ts'

/** Unions and interfaces (spec/graphql.md 17.9). */
export const polymorphism = keyAddition(
  'polymorphism',
  {
    on: ['relation'],
    decode: abstractTypes,
    help:
      '{"unions": {"name": ["relation", ...]}, "interfaces": ["Name", ...], "collections": ["Name", ...]}: fields that lead ' +
      'to one row by the first of several relations that leads to one, interfaces of what its type shares with others, and ' +
      'those of them whose collections have its rows.',
  },
  { marks: ['unions', 'interfaces'], relationFacts, columnFacts },
)
