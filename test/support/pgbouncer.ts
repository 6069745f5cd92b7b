import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { serverAccount } from '../../runtime/db/embedded/postgres-account.ts'
import type { Host } from './cluster.ts'
import { printedBy } from './programs.ts'
import { listening, poolerUsers, type PoolerProcess, type PoolMode } from './pooler-process.ts'

/** Debian's, and a newer one where the environment names it: 1.21 is the first that can keep prepared statements. */
const programs = ['/usr/sbin/pgbouncer', process.env['TEST_PGBOUNCER'] ?? '']

export interface PgbouncerProgram {
  readonly path: string
  readonly version: string
  /** It can keep prepared statements in transaction mode. */
  readonly keepsStatements: boolean
}

const programAt = (path: string): readonly PgbouncerProgram[] => {
  const printed = printedBy(path, '--version')
  if (printed === null) return []
  const version = /\d+\.\d+/.exec(printed)?.[0] ?? '0.0'
  return [{ path, version, keepsStatements: Number(version.split('.')[1]) >= 21 }]
}

const findPgbouncers = (): readonly PgbouncerProgram[] => programs.filter((path) => path !== '').flatMap(programAt)

/** One that can keep prepared statements, or cannot; null: there is none on this machine. */
export const pgbouncerThat = (keeps: boolean): PgbouncerProgram | null =>
  findPgbouncers().find(({ keepsStatements }) => keepsStatements === keeps) ?? null

/** A missing program that must be installed for a version that keeps them, or does not; null: none. */
export const noPgbouncer = (keeps: boolean): string | null => {
  if (pgbouncerThat(keeps) !== null) return null
  return keeps
    ? 'Install PgBouncer 1.21 or newer, and let TEST_PGBOUNCER name it.'
    : 'Install PgBouncer older than 1.21 as /usr/sbin/pgbouncer (Debian 12: apt-get install pgbouncer).'
}

/** Those of this machine; what is missing is said. */
export const pgbouncers = (): readonly PgbouncerProgram[] => {
  const found = findPgbouncers()
  for (const keeps of [false, true])
    if (!found.some(({ keepsStatements }) => keepsStatements === keeps))
      console.warn(
        keeps
          ? '\nTEST_PGBOUNCER names no PgBouncer 1.21 or newer: poolers that keep statements are not tested.\n'
          : '\nThere is no /usr/sbin/pgbouncer older than 1.21: poolers without statements are not tested.\n',
      )
  return found
}

export interface PgbouncerOptions {
  readonly program: string
  /** Of the server with trust authentication. */
  readonly serverPort: number
  /** Left out: on loopback. */
  readonly serverAddress?: string
  /** Left out: it runs on this one. */
  readonly host?: Host
  readonly mode?: PoolMode
  /** Lines of its configuration. */
  readonly lines?: readonly string[]
  readonly port?: number
}

/** A pooler that accepts every client. */
export const startPgbouncer = async (options: PgbouncerOptions): Promise<PoolerProcess> => {
  const { program, serverPort, serverAddress = '127.0.0.1', host, mode = 'transaction', lines = [] } = options
  const address = host?.address ?? '127.0.0.1'
  const port = options.port ?? (await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'catalograph-pgbouncer-'))
  const [config, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')]
  const settings = (server: string): string =>
    [
      `[databases]`,
      `* = host=${serverAddress} ${server}`,
      `[pgbouncer]`,
      `listen_addr = ${address}`,
      `listen_port = ${port}`,
      `auth_type = trust`,
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      `unix_socket_dir =`,
      `server_idle_timeout = 5`,
      ...(lines.some((line) => line.startsWith('default_pool_size')) ? [] : ['default_pool_size = 5']),
      ...lines,
    ].join('\n')
  writeFileSync(users, poolerUsers.map((name) => `"${name}" ""\n`).join(''))
  writeFileSync(config, settings(`port=${serverPort}`))
  const account = await serverAccount()
  if (account !== null) for (const path of [folder, config, users]) chownSync(path, account.uid, account.gid)
  const started =
    host === undefined
      ? spawn(program, [config], { stdio: 'ignore', ...(account !== null && account) })
      : spawn(await host.launcher(program, account), [config], { stdio: 'ignore' })
  const end = await listening(started, port, address)
  return {
    port,
    pid: started.pid ?? 0,
    moveTo: (otherPort, database) => {
      writeFileSync(config, settings(`port=${otherPort} dbname=${database}`))
      started.kill('SIGHUP')
    },
    close: async () => {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
