import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { packageFolder } from '../../runtime/lib/package.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { signToken } from '../../runtime/identity/jwt.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import type { Host } from './cluster.ts'
import type { TestDatabase } from './database.ts'

/** The built server in a process of its own, whose memory is its own too. */
export interface Served {
  readonly url: string
  readonly port: number
  readonly anon: string
  readonly service: string
  /** A token of these claims, for an hour. */
  readonly tokenOf: (claims: Readonly<Record<string, unknown>>) => string
  readonly pid: number
  /** Megabytes that it has in memory, and that it had at most. */
  readonly memory: () => Promise<{ readonly now: number; readonly most: number }>
  /** Its log so far, line by line. */
  readonly said: () => readonly string[]
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>
  /** Asks it to stop; resolves with the milliseconds until it was gone. */
  readonly stop: () => Promise<number>
}

const secret = 'a secret that has more than thirty-two characters'

export async function serveBuilt(
  db: Pick<TestDatabase, 'url' | 'ownerUrl'>,
  environment: Readonly<Record<string, string>> = {},
  host: Host | null = null,
  options: readonly string[] = [],
  /** Receives what it notes, also before it is ready. */
  hear: (notes: string) => void = () => undefined,
  /** The program of another revision. */
  folder = packageFolder(),
): Promise<Served> {
  const port = Number(environment['PORT'] ?? (await freePort()))
  const address = host?.address ?? '127.0.0.1'
  const url = `http://${address}:${port}`
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOST: address,
    PORT: String(port),
    DATABASE_URL: db.url,
    DATABASE_OWNER_URL: db.ownerUrl,
    JWT_SECRET: secret,
    LOG_LEVEL: 'error',
    ...environment,
  }
  const program = host === null ? process.execPath : await host.launcher(process.execPath, null)
  const child = spawn(program, [join(folder, 'dist/compiler/cli.js'), 'serve', ...options], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let notes = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    notes += text
    hear(notes)
  })
  const gone = once(child, 'exit')
  const pid = child.pid ?? 0
  let hasEnded = false
  void gone.then(() => (hasEnded = true))
  const stop = async (): Promise<number> => {
    const asked = performance.now()
    child.kill('SIGTERM')
    await gone
    return performance.now() - asked
  }
  const until = performance.now() + 30_000
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    ))
  ) {
    if (hasEnded) throw new Error(`The server ended: ${notes}`)
    if (performance.now() > until) {
      await stop()
      throw new Error(`The server did not become ready: ${notes}`)
    }
    await pause(50)
  }
  const memory = async (): ReturnType<Served['memory']> => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1_024
    return { now: read('VmRSS'), most: read('VmHWM') }
  }
  const { anon, serviceRole: service } = projectKeys(secret)
  const tokenOf: Served['tokenOf'] = (claims) =>
    signToken({ exp: Math.floor(Date.now() / 1_000) + 3_600, ...claims }, secret)
  return { url, port, anon, service, tokenOf, pid, memory, said: () => notes.split('\n'), ended: gone, stop }
}
