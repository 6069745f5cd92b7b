import type { Diagnostic } from '../../../runtime/contract/manifest.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'

/** A value together with the diagnostics of its creation. */
export interface WithDiagnostics<T> {
  readonly value: T
  readonly diagnostics: readonly Diagnostic[]
}

export const withDiagnostics = <T>(value: T, diagnostics: readonly Diagnostic[] = []): WithDiagnostics<T> => ({
  value,
  diagnostics,
})

/** The values of a list in their order without nulls, and all their diagnostics, in the same order. */
export const collectPresent = <T>(list: readonly WithDiagnostics<T | null>[]): WithDiagnostics<readonly T[]> =>
  withDiagnostics(present(list.map(({ value }) => value)), diagnosticsIn(list))

/** The values that are not null: the list itself if all are. */
export const present = <T>(values: readonly (T | null)[]): readonly T[] =>
  hasNone(values) ? values : values.filter((value): value is T & {} => value !== null)

const hasNone = <T>(values: readonly (T | null)[]): values is readonly T[] => !values.includes(null)

const diagnosticsIn = (list: readonly WithDiagnostics<unknown>[]): readonly Diagnostic[] =>
  list.flatMap(({ diagnostics }) => diagnostics)

/**
 * Like `collectPresent`, for a list of thousands whose predecessor is memoized.
 * @param values of the items of the list
 */
export const collectFollowed = <T>(
  memo: Memo,
  list: readonly WithDiagnostics<T | null>[],
  values: readonly (T | null)[],
): WithDiagnostics<readonly T[]> => ({
  value: memo.of(present<T>, values),
  get diagnostics() {
    return memo.of(diagnosticsIn, list)
  },
})
