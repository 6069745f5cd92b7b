import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('networkFilters', 'filters its inet and cidr columns by what they contain')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly networkFilters: (typeof keys)[number]
  }
}
