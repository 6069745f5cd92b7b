import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { sendOnce } from './http-client.ts'

/** A measured server: a separate process that listens on a port. */
export interface Server {
  readonly name: string
  readonly pid: number
  readonly port: number
  readonly stop: () => Promise<void>
}

export interface ServerCommand {
  readonly name: string
  /** By default the Node that runs the benchmark. */
  readonly program?: string
  readonly args: readonly string[]
  /** Besides PATH and PORT; our own environment is not inherited. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Its port; absent: a free one. */
  readonly port?: number
  /** A request that is answered with 200 once the server is ready. */
  readonly ready: Buffer
  /** The time limit until it is ready, by default 30 s. */
  readonly patienceMs?: number
}

const isReady = async (port: number, request: Buffer): Promise<boolean> => {
  try {
    return (await sendOnce(port, request)).status === 200
  } catch {
    return false
  }
}

/** Starts a server and resolves once it is ready. Rejects with its last output if it ends or is late. */
export const startServer = async (command: ServerCommand): Promise<Server> => {
  const port = command.port ?? (await freePort())
  const env = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...command.env, PORT: String(port) }
  const child = spawn(command.program ?? process.execPath, command.args, { env, cwd: command.cwd, stdio: 'pipe' })
  let output = ''
  const gather = (chunk: Buffer): void => void (output = `${output}${chunk.toString('utf8')}`.slice(-4_000))
  child.stdout.on('data', gather)
  child.stderr.on('data', gather)
  child.on('error', (error) => void (output += error.message))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const impatience = setTimeout(() => child.kill('SIGKILL'), 10_000)
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) await exited
    clearTimeout(impatience)
  }
  const until = performance.now() + (command.patienceMs ?? 30_000)
  for (let waited = 0; !(await isReady(port, command.ready)); waited += 1) {
    const ended = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
    if (!ended && performance.now() < until) await pause(waited < 100 ? 10 : 50)
    else {
      await stop()
      throw new Error(`The server ${command.name} did not become ready:\n${output}`)
    }
  }
  return { name: command.name, pid: child.pid ?? 0, port, stop }
}
