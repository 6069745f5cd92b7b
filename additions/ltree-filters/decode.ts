import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('ltreeFilters', 'filters its ltree columns by what they lie below and match')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly ltreeFilters: (typeof keys)[number]
  }
}
