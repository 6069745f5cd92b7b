import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [
  tableSwitch(
    'updates',
    'lets rows of it be changed by their keys, many at once with values of their own, and by operators such as increment',
  ),
] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly updates: (typeof keys)[number]
  }
}
