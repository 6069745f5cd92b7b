import { switchedOn } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'domains',
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} serves columns and arguments of domains as the type underneath.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly domains: (typeof keys)[number]
  }
}
