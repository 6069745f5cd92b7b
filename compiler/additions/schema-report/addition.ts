import { switchedOn } from '../../comments/additions.ts'
import { keyAddition } from '../addition.ts'
import { extension } from './statements.ts'

/** The objects in the API of a role, and the reasons for missing ones, under `extensions.schemaReport` (spec/graphql.md 17). */
export const schemaReport = keyAddition(
  'schemaReport',
  {
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} answers requests that ask with what is in the API and why not; for development only.',
  },
  { reports: true, extension },
)
