import { switchedOn } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'explain',
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} answers requests that ask with their statements and plans; for development only.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly explain: (typeof keys)[number]
  }
}
