import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [
  tableSwitch('textFilters', 'compares its texts without case and, with pg_trgm, by trigrams'),
] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly textFilters: (typeof keys)[number]
  }
}
