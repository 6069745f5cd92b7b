import { switchedOn } from '../../comments/additions.ts'
import { keyAddition } from '../addition.ts'
import './facts.ts'
import { extension } from './statements.ts'

/** Statements and plans of a request, under `extensions.explain` (spec/graphql.md 17). */
export const explain = keyAddition(
  'explain',
  {
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} answers requests that ask with their statements and plans; for development only.',
  },
  { manifestFacts: () => ({ explain: true }), extension },
)
