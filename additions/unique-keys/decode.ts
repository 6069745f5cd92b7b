import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('uniqueKeys', 'adds a field to Query for each of its unique keys')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly uniqueKeys: (typeof keys)[number]
  }
}
