import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../runtime/db/embedded/free-port.ts'
import { httpRequest, sendOnce } from '../../../bench/support/http-client.ts'

/** The built command line as a process of its own, with an event loop, memory and signals of its own. */
export interface Besieged {
  readonly pid: number
  readonly port: number
  /** Lines of its log, oldest first. */
  readonly lines: () => readonly string[]
  /** The exit code, or null while it runs; -1 when a signal ended it. */
  readonly exitCode: () => number | null
  /** Resolves when it has ended. */
  readonly exited: Promise<void>
  readonly signal: (signal: NodeJS.Signals) => void
  /** Ends it, by force if need be. */
  readonly end: () => Promise<void>
}

/** The project's folder, in which benchmarks and tests are started. */
const cli = 'dist/compiler/cli.js'
const mostLines = 2_000
const patienceMs = 30_000

const ready = httpRequest({ method: 'GET', path: '/readyz' })

const isReady = (port: number): Promise<boolean> =>
  sendOnce(port, ready).then(
    ({ status }) => status === 200,
    () => false,
  )

export async function startBesieged(settings: Readonly<Record<string, string>>): Promise<Besieged> {
  const port = await freePort()
  const env = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', LOG_LEVEL: 'warn', ...settings }
  const child = spawn(process.execPath, [cli, 'serve'], { env: { ...env, PORT: String(port) }, stdio: 'pipe' })
  const lines: string[] = []
  const gather = (chunk: Buffer): void => {
    lines.push(
      ...chunk
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== ''),
    )
    lines.splice(0, lines.length - mostLines)
  }
  child.stdout.on('data', gather)
  child.stderr.on('data', gather)
  // Whatever becomes of this process, the other one must not outlive it.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      process.off('exit', kill)
      resolve()
    })
  })
  const exitCode = (): number | null => (child.signalCode === null ? child.exitCode : -1)
  const end = async (): Promise<void> => {
    if (exitCode() !== null) return
    child.kill('SIGTERM')
    const impatience = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await exited
    clearTimeout(impatience)
  }
  for (const until = performance.now() + patienceMs; !(await isReady(port)); await pause(50)) {
    if (exitCode() === null && performance.now() < until) continue
    await end()
    throw new Error(`The server did not become ready:\n${lines.join('\n')}`)
  }
  return { pid: child.pid ?? 0, port, lines: () => lines, exitCode, exited, signal: (name) => child.kill(name), end }
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The command line of the process that only parses and answers no client (compiler/emit/parser-process.ts). */
const readsDocuments = 'parser-process'

/** The process and the workers that it has now: any of them may answer, and each has an event loop and memory of its own. */
const servingPids = (pid: number): readonly number[] => {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.filter((child) => !textOf(`/proc/${child}/cmdline`).includes(readsDocuments))]
}

/** The most that one of them holds in memory, in MB (proc(5)). */
export const largestMb = (pid: number): number => Math.max(...servingPids(pid).map(residentMb))

const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1_024

/** The CPU time of a process's main thread, and its waits for a processor, in milliseconds. */
export interface ThreadTime {
  readonly ran: number
  readonly waited: number
}

export function mainThread(pid: number): ThreadTime {
  const [ran = 0, waited = 0] = textOf(`/proc/${pid}/task/${pid}/schedstat`).split(' ').map(Number)
  return { ran: ran / 1e6, waited: waited / 1e6 }
}

export type ThreadTimes = ReadonlyMap<number, ThreadTime>

export const servingThreads = (pid: number): ThreadTimes =>
  new Map(servingPids(pid).map((serving) => [serving, mainThread(serving)]))

/** Of the threads that are there after, what the one did that did most since before. */
export const mostSince = (before: ThreadTimes, after: ThreadTimes, what: keyof ThreadTime): number =>
  Math.max(0, ...[...after].map(([pid, time]) => time[what] - (before.get(pid)?.[what] ?? 0)))
