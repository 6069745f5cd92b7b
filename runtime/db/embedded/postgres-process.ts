import { spawn, type ChildProcess } from 'node:child_process'

/** A Postgres server as a child process: create its data folder, start it, stop it. Independent of its content. */

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** The operating-system account that Postgres runs under; null is our own. Postgres refuses to run as root. */
export type Account = { readonly uid: number; readonly gid: number } | null

export interface ServerProcess {
  readonly pid: number
  /** Fast shutdown: open transactions are rolled back, the data folder is left clean. */
  readonly stop: () => Promise<void>
}

const keptLines = 30
const stopPatience = 10_000

/** PG* variables of our own environment must not affect our server; messages are parsed, so they are in English. */
const serverEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' })

const spawnAs = (account: Account, command: string, args: readonly string[]): ChildProcess =>
  spawn(command, args, {
    ...(account ?? {}),
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate session: Ctrl-C in the terminal reaches only this process, so that requests end before their database
    // does.
    detached: true,
  })

const gatherLines = (child: ChildProcess, onLine: (line: string) => void): (() => string) => {
  const kept: string[] = []
  const gather = (chunk: Buffer): void => {
    for (const line of chunk
      .toString('utf8')
      .split('\n')
      .filter((text) => text !== '')) {
      kept.push(line)
      if (kept.length > keptLines) kept.shift()
      onLine(line)
    }
  }
  child.stdout?.on('data', gather)
  child.stderr?.on('data', gather)
  return () => kept.join('\n')
}

/** Runs a program to its end. Rejects with its last output lines if it fails. */
export const runProgram = (account: Account, command: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawnAs(account, command, args)
    const output = gatherLines(child, () => undefined)
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${command} failed (exit code ${code}):\n${output()}`))
    })
  })

const exited = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()))

/** SIGINT is Postgres' fast shutdown, SIGQUIT its immediate one (manual 18.5). */
const stopChild = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGINT')
  const impatience = setTimeout(() => child.kill('SIGQUIT'), stopPatience)
  await exited(child)
  clearTimeout(impatience)
}

/**
 * Starts a server on a data folder and resolves once it accepts connections. `onLine` receives each line of its log.
 * Rejects with the server's last log lines if it exits before that.
 */
export const startServer = (
  account: Account,
  binaries: Binaries,
  folder: string,
  settings: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => undefined,
): Promise<ServerProcess> =>
  new Promise((resolve, reject) => {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawnAs(account, binaries.postgres, ['-D', folder, '-c', 'lc_messages=C', ...flags])
    const log = gatherLines(child, (line) => {
      onLine(line)
      if (/database system is ready to accept (read-only )?connections/.test(line) && child.pid !== undefined)
        resolve({ pid: child.pid, stop: () => stopChild(child) })
    })
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`Postgres did not start (exit code ${code}):\n${log()}`)))
  })
