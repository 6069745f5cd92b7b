import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('rangeFilters', 'filters its ranges and multiranges by what they contain')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly rangeFilters: (typeof keys)[number]
  }
}
