import type { Diagnostic } from '../../runtime/contract/manifest.ts'
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
