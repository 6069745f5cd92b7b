import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('orderByRelated', 'lets its order ask for values and counts of related rows')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly orderByRelated: (typeof keys)[number]
  }
}
