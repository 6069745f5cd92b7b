import { switchedOn } from '../../compiler/comments/additions.ts'
import type { Key } from '../../compiler/comments/keys.ts'

export const keys = [
  {
    key: 'functionShapes',
    on: ['schema'],
    decode: switchedOn,
    help:
      '{"enabled": true} serves overloads that have a name by comment, arguments without names, enums, computed fields ' +
      'with arguments, and filters on computed fields.',
  },
] as const satisfies readonly Key[]

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly functionShapes: (typeof keys)[number]
  }
}
