import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('arrayFilters', 'filters its arrays by their elements')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly arrayFilters: (typeof keys)[number]
  }
}
