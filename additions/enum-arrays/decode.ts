import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('enumArrays', 'gives columns that are arrays of enums a filter')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly enumArrays: (typeof keys)[number]
  }
}
