import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [tableSwitch('nestedWrites', 'lets an insert of it take related rows, new or existing')] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly nestedWrites: (typeof keys)[number]
  }
}
