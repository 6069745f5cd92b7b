import { withDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import { unlessDisabled } from '../../comments/additions.ts'
import type { Key } from '../../comments/keys.ts'
import type { Addition } from '../addition.ts'

const keys = [
  {
    key: 'root',
    on: ['relation'],
    decode: unlessDisabled,
    help: '{"enabled": false} takes its collection and by-key fields from Query.',
  },
] as const satisfies readonly Key[]

/** Relations without fields of their own on Query (spec/graphql.md 17). */
export const root = {
  name: 'root',
  usual: true,
  keys,
  relationFacts: () => withDiagnostics({ root: false }),
} satisfies Addition
