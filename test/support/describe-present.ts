import { describe } from 'vitest'
import { titled } from './programs.ts'

/** The subject of a suite; `missing`: why it cannot run here. */
interface Row {
  readonly missing: string | null
}

/** A suite for each row. One of which something is missing is skipped, and its title says why: a file always has its suites. */
export const describePresent = <R extends Row>(
  rows: readonly R[],
  title: (row: R) => string,
  body: (row: R) => void,
  timeout = 30_000,
): void => {
  for (const row of rows)
    describe.skipIf(row.missing !== null)(titled(title(row), row.missing), { timeout }, () => body(row))
}
