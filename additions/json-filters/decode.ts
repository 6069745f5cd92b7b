import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('jsonFilters', 'gives its json and jsonb columns a filter')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly jsonFilters: (typeof keys)[number]
  }
}
