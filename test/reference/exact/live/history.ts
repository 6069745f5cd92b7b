import pg from 'pg'
import { storeOf, type Store } from '../../interpreter/store.ts'
import type { Json, World } from '../../interpreter/world.ts'
import { dumpSql } from '../ddl.ts'

/** The states of a database after each commit, in order: the only possible answers of a service. */

/** The verdict of reading each document: null if it can be watched, else the messages of its refusal. */
export type Verdicts = readonly (readonly string[] | null)[]

export interface State {
  readonly world: World
  readonly store: Store
  readonly verdicts: Verdicts
  /** The action before it. */
  readonly by: string
}

export interface History {
  readonly states: readonly State[]
  readonly last: () => State
  /** The newest state that a present answer may show: its commit was sent. */
  readonly newest: () => number
  /** The oldest state that an answer to a present request may show. */
  readonly oldest: () => number
  /**
   * Makes the next state exclusively; false if it was blocked too long, and nothing was done.
   * @param work ends with a commit; rejects without one
   */
  readonly commit: (client: pg.Client, by: string, work: () => Promise<Next>) => Promise<boolean>
}

/** The changes of a commit besides rows. */
export type Next = Partial<Pick<State, 'world' | 'verdicts'>>

const orderLock = 4_711
const lockNotAvailable = '55P03'

/** A writer of the test; its lock timeout is short, because a commit may wait for its locks. */
export const connectWriter = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`set lock_timeout = '1s'`)
  return client
}

const rowsOf = async (client: pg.Client, world: World): Promise<Store> => {
  const stored = world.tables.filter(({ view }) => view === undefined)
  const parts = stored.map((table) => `(${dumpSql(table)})`)
  const { rows } = await client.query<Record<string, readonly (readonly Json[])[]>>(
    `select ${parts.map((part, index) => `${part} as "${index}"`).join(', ')}`,
  )
  const tables = stored.map((table, index) => ({ ...table, rows: rows[0]?.[index] ?? [] }))
  return storeOf({ ...world, tables } as World)
}

const isLocked = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === lockNotAvailable

/** A writer that blocks this read waits to commit, and gives up. */
const rowsInTime = async (client: pg.Client, world: World): Promise<Store> => {
  for (;;) {
    try {
      return await rowsOf(client, world)
    } catch (error) {
      if (!isLocked(error)) throw error
    }
  }
}

/** @param first the state before any writes */
export const createHistory = (first: Omit<State, 'store'>): History => {
  const states: State[] = [{ ...first, store: storeOf(first.world) }]
  let isCommitting = false
  const last = (): State => {
    const state = states.at(-1)
    if (state === undefined) throw new Error('there is no state')
    return state
  }
  return {
    states,
    last,
    newest: () => states.length - 1 + Number(isCommitting),
    oldest: () => states.length - 1,
    commit: async (client, by, work) => {
      try {
        await client.query(`select pg_advisory_lock(${orderLock})`)
      } catch (error) {
        if (!isLocked(error)) throw error
        await client.query('rollback')
        return false
      }
      isCommitting = true
      try {
        const before = last()
        const next = await work().catch(async (error: unknown): Promise<Next> => {
          await client.query('rollback')
          if (!(error instanceof pg.DatabaseError)) throw error
          return {}
        })
        const { world = before.world, verdicts = before.verdicts } = next
        states.push({ world, verdicts, store: await rowsInTime(client, world), by })
      } finally {
        isCommitting = false
        await client.query(`select pg_advisory_unlock(${orderLock})`)
      }
      return true
    },
  }
}
