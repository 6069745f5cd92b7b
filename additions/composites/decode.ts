import { switchedOn } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'composites',
    on: ['schema'],
    decode: switchedOn,
    help: '{"enabled": true} serves columns and results of composite types as objects, and filters by their attributes.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly composites: (typeof keys)[number]
  }
}
