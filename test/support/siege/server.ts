import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../runtime/embedded-postgres/free-port.ts'
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

/** Resident memory in MB, now and at most so far (proc(5)). */
export function memoryOf(pid: number): { readonly now: number; readonly most: number } {
  const text = textOf(`/proc/${pid}/status`)
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1_024
  return { now: read('VmRSS'), most: read('VmHWM') }
}

/** What the main thread did, in milliseconds: computed, and waited for a processor that others had. */
export function mainThread(pid: number): { readonly ran: number; readonly waited: number } {
  const [ran = 0, waited = 0] = textOf(`/proc/${pid}/task/${pid}/schedstat`).split(' ').map(Number)
  return { ran: ran / 1e6, waited: waited / 1e6 }
}
