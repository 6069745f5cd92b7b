import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A command of an application, which runs beside its service. */
export interface Beside {
  /** Resolves with its exit code. */
  readonly ended: Promise<number>
  /** Asks it to end, unless it has; resolves with its exit code. */
  readonly stop: () => Promise<number>
}

/** After this time it is ended without being asked. */
const longestStopMs = 5_000

/** Runs a line of the shell. Rejects never: a line that cannot be run ends with code 127. */
export function startBeside(line: string, environment: Readonly<Record<string, string | undefined>>): Beside {
  // A process group of its own: the shell's own children are asked to end as well, once.
  const child = spawn(line, { shell: true, detached: true, stdio: ['ignore', 'inherit', 'inherit'], env: environment })
  const ended = once(child, 'close').then(
    ([code]) => (typeof code === 'number' ? code : 1),
    () => 127,
  )
  const ask = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, signal)
    } catch {
      // It has ended.
    }
  }
  return {
    ended,
    stop: async () => {
      ask('SIGTERM')
      const last = setTimeout(ask, longestStopMs, 'SIGKILL')
      const code = await ended
      clearTimeout(last)
      return code
    },
  }
}
