import { withDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import { unlessDisabled } from '../../comments/additions.ts'
import { keyAddition } from '../addition.ts'

/** Relations without fields of their own on Query (spec/graphql.md 17). */
export const root = keyAddition(
  'root',
  {
    on: ['relation'],
    decode: unlessDisabled,
    help: '{"enabled": false} takes its collection and by-key fields from Query.',
  },
  { usual: true, relationFacts: () => withDiagnostics({ root: false }) },
)
