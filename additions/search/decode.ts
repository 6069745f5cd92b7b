import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('search', 'searches its texts and tsvector columns by words')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly search: (typeof keys)[number]
  }
}
