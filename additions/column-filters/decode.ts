import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('columnFilters', 'compares columns of a row with each other in filters')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly columnFilters: (typeof keys)[number]
  }
}
