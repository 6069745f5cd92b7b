import fc from 'fast-check'
import type { Project } from './project.ts'

/** One step of a history. `M` is what is so by the specification, changed in place; `R` is what is really there. */
export interface Step<M, R> {
  readonly name: string
  readonly possible?: (model: M) => boolean
  /** Does it, holds the answers against the model, and changes the model. */
  readonly take: (model: M, real: R) => Promise<void>
}

export const command = <M extends object, R>({ name, possible, take }: Step<M, R>): fc.AsyncCommand<M, R> => ({
  check: (model) => possible?.(model) ?? true,
  run: take,
  toString: () => name,
})

/** A process ends and another begins; the database is all that stays. */
export const restart = <M, R extends { readonly project: Project }>(): Step<M, R> => ({
  name: 'restart',
  take: (_model, { project }) => project.restart(),
})

export interface Histories<M extends object, R> {
  readonly commands: readonly fc.Arbitrary<fc.AsyncCommand<M, R>>[]
  readonly begin: () => Promise<{ readonly model: M; readonly real: R }>
  readonly seed: number
  readonly count: number
  readonly longest: number
}

/** Holds of every history that fast-check draws; a failure prints the seed and the shortest history that fails. */
export async function assertHistories<M extends object, R>(histories: Histories<M, R>): Promise<void> {
  const { commands, begin, seed, count, longest } = histories
  const drawn = fc.commands([...commands], { maxCommands: longest, size: 'max' })
  const property = fc.asyncProperty(drawn, (history) => fc.asyncModelRun(begin, history))
  await fc.assert(property, { seed, numRuns: count })
}

/** The seed of a file's histories; MODEL_SEED repeats them. */
export const modelSeed = Number(process.env['MODEL_SEED'] ?? Date.now() % 1_000_000)
