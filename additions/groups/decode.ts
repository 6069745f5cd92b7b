import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [
  tableSwitch('groups', 'gives its collection groups: counts and figures by values of fields'),
] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly groups: (typeof keys)[number]
  }
}
