import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Facts about a process by its id; ids are reused, so an id alone proves nothing. */

const run = promisify(execFile)

const ps = async (pid: number, column: string): Promise<string> =>
  (await run('ps', ['-p', String(pid), '-o', `${column}=`]).catch(() => ({ stdout: '' }))).stdout.trim()

/** The fields of /proc/PID/stat from the 3rd on; the 2nd contains spaces in brackets. Empty without such a file. */
const statFields = (pid: number): readonly string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const receivesSignals = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** An ended process keeps its id until its parent waits for it; its state is then Z, or X (proc_pid_stat(5)). */
const hasEnded = (pid: number): boolean => ['Z', 'X'].includes(statFields(pid)[0] ?? '')

export const isAlive = (pid: number): boolean => receivesSignals(pid) && !hasEnded(pid)

/** Its arguments as one text; empty if there is no such process. */
export const commandLine = async (pid: number): Promise<string> => {
  const bytes = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  return bytes === null ? ps(pid, 'command') : bytes.replaceAll('\0', ' ')
}

/** Its start time in the system's units: the 22nd field of /proc/PID/stat. */
const startOf = async (pid: number): Promise<string> => statFields(pid)[19] ?? ps(pid, 'lstart')

/** `PID started` of a living process, null for a dead one: unique per machine. */
export const processIdentity = async (pid: number): Promise<string | null> =>
  isAlive(pid) ? `${pid} ${await startOf(pid)}` : null

/** True once the process has ended, false if it still lives after `patience` milliseconds. */
export const waitForEnd = async (pid: number, patience: number): Promise<boolean> => {
  for (let waited = 0; isAlive(pid); waited += 20) {
    if (waited >= patience) return false
    await sleep(20)
  }
  return true
}
