import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { printedBy } from './programs.ts'
import { listening, poolerUsers, type PoolerProcess, type PoolMode } from './pooler-process.ts'

/** The one that the environment names, else that of the path. */
const program = process.env['TEST_PGCAT'] ?? 'pgcat'

export interface PgcatProgram {
  readonly path: string
  readonly version: string
}

/** Null: there is none on this machine. */
export const findPgcat = (): PgcatProgram | null => {
  const printed = printedBy(program, '--version')
  return printed === null ? null : { path: program, version: /\d+\.\d+\.\d+/.exec(printed)?.[0] ?? '0.0.0' }
}

/** A missing program that must be installed; null: none. */
export const noPgcat = (): string | null =>
  findPgcat() === null ? 'Install pgcat 1.3 on the path, or let TEST_PGCAT name it.' : null

export interface PgcatOptions {
  readonly program: string
  /** Of the server with trust authentication. Its present databases are the pools. */
  readonly serverPort: number
  readonly mode?: Exclude<PoolMode, 'statement'>
  /** Connections to the server for each database and user. */
  readonly size?: number
  /** How many prepared statements it keeps for each connection; left out: none. */
  readonly statements?: number
  readonly port?: number
}

const databasesOf = async (port: number): Promise<readonly string[]> => {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>('select datname as name from pg_database where datallowconn')
    return rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/** A pooler that accepts every client. */
export const startPgcat = async (options: PgcatOptions): Promise<PoolerProcess> => {
  const { serverPort, mode = 'transaction', size = 5, statements = 0 } = options
  const port = options.port ?? (await freePort())
  const databases = await databasesOf(serverPort)
  const folder = mkdtempSync(join(tmpdir(), 'catalograph-pgcat-'))
  const config = join(folder, 'pgcat.toml')
  const pool = (name: string, server: number, database: string): readonly string[] => [
    `[pools."${name}"]`,
    `pool_mode = "${mode}"`,
    `prepared_statements_cache_size = ${statements}`,
    ...poolerUsers.flatMap((user, index) => [
      `[pools."${name}".users.${index}]`,
      `username = "${user}"`,
      `auth_type = "trust"`,
      `password = ""`,
      `pool_size = ${size}`,
    ]),
    `[pools."${name}".shards.0]`,
    `servers = [["127.0.0.1", ${server}, "primary"]]`,
    `database = "${database}"`,
  ]
  const settings = (server: number, database?: string): string =>
    [
      `[general]`,
      `host = "127.0.0.1"`,
      `port = ${port}`,
      `admin_username = "admin"`,
      `admin_password = "admin"`,
      // It would connect to each database for each user before it listens.
      `validate_config = false`,
      `worker_threads = 2`,
      `connect_timeout = 5000`,
      ...databases.flatMap((name) => pool(name, server, database ?? name)),
    ].join('\n')
  writeFileSync(config, settings(serverPort))
  const started = spawn(options.program, ['--log-level', 'ERROR', config], { stdio: 'ignore' })
  const end = await listening(started, port, '127.0.0.1')
  return {
    port,
    pid: started.pid ?? 0,
    moveTo: (otherPort, database) => {
      writeFileSync(config, settings(otherPort, database))
      started.kill('SIGHUP')
    },
    close: async () => {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
