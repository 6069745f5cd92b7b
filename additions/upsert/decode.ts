import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('upsert', 'gives its insert the argument onConflict')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly upsert: (typeof keys)[number]
  }
}
