import { tableSwitch } from '../../compiler/comments/additions.ts'

export const keys = [
  tableSwitch('manyToMany', 'lets rows that it connects lead to each other, with what it says of both on the edge'),
] as const

declare module '../../compiler/comments/keys.ts' {
  interface AddedKeys {
    readonly manyToMany: (typeof keys)[number]
  }
}
