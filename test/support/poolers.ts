import { findPgcat, startPgcat } from './pgcat.ts'
import { pgbouncers, startPgbouncer, type PgbouncerProgram } from './pgbouncer.ts'
import type { PoolerProcess, PoolMode } from './pooler-process.ts'

export interface PoolerOptions {
  /** Of the server that trusts everybody. */
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

/** A pooler of this machine, configured as docs/scale.md says. */
export interface Pooler {
  readonly name: string
  /** In transaction mode it keeps prepared statements. */
  readonly keepsStatements: boolean
  readonly modes: readonly PoolMode[]
  readonly start: (options: PoolerOptions) => Promise<PoolerProcess>
}

const throughPgbouncer = ({ path, version, keepsStatements }: PgbouncerProgram): Pooler => ({
  name: `PgBouncer ${version}`,
  keepsStatements,
  modes: ['transaction', 'session', 'statement'],
  start: ({ size = 5, lines = [], statements: _statements, ...options }) =>
    startPgbouncer({
      program: path,
      ...options,
      lines: [
        ...[`default_pool_size = ${size}`, 'max_client_conn = 200'],
        ...(keepsStatements ? ['max_prepared_statements = 50'] : []),
        ...lines,
      ],
    }),
})

const throughPgcat = (): readonly Pooler[] => {
  const found = findPgcat()
  if (found === null) {
    console.warn('\nThere is no pgcat, neither on the path nor named by TEST_PGCAT: it is not tested.\n')
    return []
  }
  const { path, version } = found
  return [
    {
      name: `pgcat ${version}`,
      keepsStatements: false,
      modes: ['transaction', 'session'],
      start: ({ mode = 'transaction', lines: _lines, ...options }) => {
        if (mode === 'statement') throw new Error('pgcat has no such mode.')
        return startPgcat({ program: path, mode, ...options })
      },
    },
  ]
}

/** Those of this machine; what is missing is said. */
export const poolers = (): readonly Pooler[] => [...pgbouncers().map(throughPgbouncer), ...throughPgcat()]
