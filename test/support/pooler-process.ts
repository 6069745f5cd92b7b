import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export type PoolMode = 'transaction' | 'session' | 'statement'

/** A running pooler that accepts every client. */
export interface PoolerProcess {
  readonly port: number
  readonly pid: number
  /** From now on its clients, whatever they asked for, reach a database of another server. */
  readonly moveTo: (serverPort: number, database: string) => void
  readonly close: () => Promise<void>
}

const answers = (port: number, address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, address)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** Resolves when it listens. The result ends it, and resolves when it has ended. */
export const listening = async (started: ChildProcess, port: number, address: string): Promise<() => Promise<void>> => {
  const ended = new Promise<void>((resolve) => started.once('exit', () => resolve()))
  for (let tries = 0; !(await answers(port, address)); tries += 1) {
    if (tries === 100) throw new Error(`${started.spawnfile} does not answer`)
    await pause(50)
  }
  return () => {
    // Versions of poolers mean different things by the other signals; some wait for the clients to leave.
    started.kill('SIGKILL')
    return ended
  }
}

/** The roles that tests log in as. */
export const poolerUsers = ['authenticator', 'owner', 'postgres', 'supabase_auth_admin']
