import type { Translated } from './translate.ts'

/** The results of a translation in numbers that do not depend on the machine. */
export interface Counts {
  readonly statements: number
  readonly parameters: number
  readonly sqlLength: number
}

export const countsOf = ({ bound }: Translated): Counts => ({
  statements: bound.length,
  parameters: bound.reduce((sum, { values }) => sum + values.length, 0),
  sqlLength: bound.reduce((sum, { text }) => sum + text.length, 0),
})
