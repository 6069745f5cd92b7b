import { unlessDisabled } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'extensions',
    on: ['schema'],
    decode: unlessDisabled,
    help: '{"enabled": false} takes out what extensions brought: their tables, views and functions.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly extensions: (typeof keys)[number]
  }
}
