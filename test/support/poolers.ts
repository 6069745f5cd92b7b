import { findPgcat, noPgcat, startPgcat } from './pgcat.ts'
import { noPgbouncer, pgbouncerThat, startPgbouncer } from './pgbouncer.ts'
import type { PoolerProcess, PoolMode } from './pooler-process.ts'

export interface PoolerOptions {
  /** Of the server with trust authentication. */
  readonly serverPort: number
  readonly mode?: PoolMode
  /** Connections to the server for each database and user. */
  readonly size?: number
  readonly port?: number
  /** Of PgBouncer's configuration. */
  readonly lines?: readonly string[]
  /** How many prepared statements pgcat keeps for each connection; left out: none. */
  readonly statements?: number
}

/** A pooler, configured as docs/scale.md says. */
export interface Pooler {
  readonly name: string
  /** A missing program that must be installed; null: none. */
  readonly missing: string | null
  /** In transaction mode it keeps prepared statements. */
  readonly keepsStatements: boolean
  readonly modes: readonly PoolMode[]
  readonly start: (options: PoolerOptions) => Promise<PoolerProcess>
}

const throughPgbouncer = (keepsStatements: boolean): Pooler => {
  const found = pgbouncerThat(keepsStatements)
  return {
    name: `PgBouncer ${found?.version ?? (keepsStatements ? 'of 1.21 and newer' : 'before 1.21')}`,
    missing: noPgbouncer(keepsStatements),
    keepsStatements,
    modes: ['transaction', 'session', 'statement'],
    start: ({ size = 5, lines = [], statements: _statements, ...options }) =>
      startPgbouncer({
        program: found?.path ?? '',
        ...options,
        lines: [
          ...[`default_pool_size = ${size}`, 'max_client_conn = 200'],
          ...(keepsStatements ? ['max_prepared_statements = 50'] : []),
          ...lines,
        ],
      }),
  }
}

const throughPgcat = (): Pooler => {
  const found = findPgcat()
  return {
    name: `pgcat ${found?.version ?? '1.3'}`,
    missing: noPgcat(),
    keepsStatements: false,
    modes: ['transaction', 'session'],
    start: ({ mode = 'transaction', lines: _lines, ...options }) => {
      if (mode === 'statement') throw new Error('pgcat has no such mode.')
      return startPgcat({ program: found?.path ?? '', mode, ...options })
    },
  }
}

/** All that are tested; what asks one that is missing is skipped, and says so. */
export const poolers = (): readonly Pooler[] => [throughPgbouncer(false), throughPgbouncer(true), throughPgcat()]
