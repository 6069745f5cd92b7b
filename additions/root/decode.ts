import { unlessDisabled } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'root',
    on: ['relation'],
    decode: unlessDisabled,
    help: '{"enabled": false} takes its collection and by-key fields from Query.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly root: (typeof keys)[number]
  }
}
