import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('relationFilters', 'lets its filter ask for related rows')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly relationFilters: (typeof keys)[number]
  }
}
