import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('distinctOn', 'lets its collection take one row per value')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly distinctOn: (typeof keys)[number]
  }
}
