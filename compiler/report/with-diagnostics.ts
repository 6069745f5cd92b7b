import type { Diagnostic } from '../../runtime/contract/manifest.ts'
import type { Memo } from '../../runtime/lib/memo.ts'
import { once } from '../../runtime/lib/once.ts'

/** A value together with the diagnostics of its making. */
export interface WithDiagnostics<T> {
  readonly value: T
  readonly diagnostics: readonly Diagnostic[]
}

export const withDiagnostics = <T>(value: T, diagnostics: readonly Diagnostic[] = []): WithDiagnostics<T> => ({
  value,
  diagnostics,
})

/** The values of a list in their order; their diagnostics, in the same order, are joined when they are read. */
function collect<T>(list: readonly WithDiagnostics<T>[]): WithDiagnostics<readonly T[]> {
  const diagnostics = once(() => list.flatMap((item) => item.diagnostics))
  return {
    value: list.map((item) => item.value),
    get diagnostics() {
      return diagnostics()
    },
  }
}

/** Leaves out nulls, and keeps their diagnostics. */
export function collectPresent<T>(list: readonly WithDiagnostics<T | null>[]): WithDiagnostics<readonly T[]> {
  const all = collect(list)
  return {
    value: all.value.filter((item): item is T & {} => item !== null),
    get diagnostics() {
      return all.diagnostics
    },
  }
}

/** The values that are not null: the list itself where all are. */
export const present = <T>(values: readonly (T | null)[]): readonly T[] =>
  hasNone(values) ? values : values.filter((value): value is T & {} => value !== null)

const hasNone = <T>(values: readonly (T | null)[]): values is readonly T[] => !values.includes(null)

const toldIn = (list: readonly WithDiagnostics<unknown>[]): readonly Diagnostic[] =>
  list.flatMap(({ diagnostics }) => diagnostics)

/**
 * As `collectPresent`, of a list of thousands of which the memory knows the last one.
 * @param values of the items of the list
 */
export const collectFollowed = <T>(
  memo: Memo,
  list: readonly WithDiagnostics<T | null>[],
  values: readonly (T | null)[],
): WithDiagnostics<readonly T[]> => ({
  value: memo.of(present<T>, values),
  get diagnostics() {
    return memo.of(toldIn, list)
  },
})
