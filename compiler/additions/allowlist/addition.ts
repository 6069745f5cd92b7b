import { keyAddition } from '../addition.ts'
import { listedDocuments } from './decode.ts'
import { manifestFacts } from './facts.ts'

/** The documents that may run (spec/graphql.md 17). */
export const allowlist = keyAddition(
  'allowlist',
  {
    on: ['schema'],
    decode: listedDocuments,
    help:
      '{"table": "schema.table", "roles": ["..."]}: only documents of that table run for these roles; ' +
      'without roles for anon and authenticated.',
  },
  { manifestFacts },
)
