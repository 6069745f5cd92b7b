import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { retries } from '../../lib/retry.ts'
import { commandLine, isAlive, processIdentity, waitForEnd } from './processes.ts'

/**
 * Exclusive use of a data folder. A lock file beside the folder names our process that uses it; postmaster.pid inside
 * it (PostgreSQL manual 66.1) names the server. A living process excludes others; a server whose process of ours was
 * killed is stopped.
 */
const lockFile = (folder: string): string => `${folder}.lock`

const tryToLock = async (folder: string, identity: string): Promise<boolean> => {
  try {
    await writeFile(lockFile(folder), identity, { flag: 'wx', mode: 0o644 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

const holderOf = async (folder: string): Promise<string> =>
  (await readFile(lockFile(folder), 'utf8').catch(() => '')).trim()

const pidOf = (text: string): number => Number.parseInt(text, 10)

const lives = async (holder: string): Promise<boolean> => {
  const pid = pidOf(holder)
  return Number.isInteger(pid) && (await processIdentity(pid)) === holder
}

/** Claims the folder for this process. Rejects if a living process holds it; resolves with its release. */
export const claimFolder = async (folder: string): Promise<() => Promise<void>> => {
  const identity = (await processIdentity(process.pid)) ?? String(process.pid)
  for (let attempt = 0; attempt < retries.folderClaim.attempts; attempt += 1) {
    if (await tryToLock(folder, identity)) return () => rm(lockFile(folder), { force: true })
    const holder = await holderOf(folder)
    if (await lives(holder))
      throw new Error(`The data folder ${folder} is in use by process ${pidOf(holder)}; stop it first.`)
    await rm(lockFile(folder), { force: true })
  }
  throw new Error(`The data folder ${folder} was claimed by another process at the same moment; try again.`)
}

const serverPid = async (folder: string): Promise<number | null> => {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => null)
  const pid = text === null ? Number.NaN : pidOf(text)
  return Number.isInteger(pid) && pid > 0 ? pid : null
}

const stopServer = async (pid: number, folder: string): Promise<void> => {
  process.kill(pid, 'SIGINT')
  if (await waitForEnd(pid, 10_000)) return
  process.kill(pid, 'SIGQUIT')
  if (!(await waitForEnd(pid, 5_000))) throw new Error(`Process ${pid}, a Postgres on ${folder}, does not end.`)
}

/**
 * Clears a claimed folder of the server that an earlier process of ours left running, and of a postmaster.pid whose
 * number now belongs to another program. The file of a dead server stays: Postgres uses it to check that its shared
 * memory is unused.
 */
export const clearOrphan = async (folder: string): Promise<void> => {
  const pid = await serverPid(folder)
  if (pid === null || !isAlive(pid)) return
  const command = await commandLine(pid)
  if (command.includes('postgres') && command.includes(`-D ${folder} `)) await stopServer(pid, folder)
  else await rm(join(folder, 'postmaster.pid'), { force: true })
}
