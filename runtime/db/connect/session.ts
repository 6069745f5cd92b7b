import type pg from 'pg'
import { classify, throwConnecting, sqlstateOf } from '../failures/classify.ts'
import { openingOf, serverOf, type Opening } from './server.ts'
import { localArms, ownSettings, startupSettings, type SettingPairs } from './startup.ts'
import { retries, retry } from '../../lib/retry.ts'
import type { PoolerSetting } from '../../settings/keys.ts'

/**
 * Runs one of our own statements as the login role. With a name, which belongs to one text, the connection keeps it
 * prepared; behind a pooler nothing is kept. Rejects with DatabaseFailure.
 */
export type Query = <R extends object>(
  text: string,
  values?: readonly unknown[],
  name?: string,
) => Promise<{ readonly rows: readonly R[] }>

/** Runs exactly one statement: the server refuses a text with two. Rejects with DatabaseFailure. */
export type SessionCommand = (text: string) => Promise<void>

/** The extended protocol takes one statement at a time (PostgreSQL manual, 53.2.3). */
interface ExtendedQuery extends pg.QueryConfig {
  readonly queryMode: 'extended'
}

const commandOn =
  (client: pg.ClientBase, settings: SettingPairs | null): SessionCommand =>
  async (text) => {
    const query: ExtendedQuery = { text, queryMode: 'extended' }
    await ask(client, settings, query)
  }

/** @param settings the settings that each transaction sets behind a pooler; null: the connection has its own backend */
export const queryOn =
  (client: pg.ClientBase, settings: SettingPairs | null): Query =>
  async <R extends object>(text: string, values: readonly unknown[] = [], name?: string) => ({
    rows: (await ask<R>(client, settings, { text, values: [...values], ...(settings === null && { name }) })).rows,
  })

/** On one connection. Rejects with what `work` rejects with; nothing is kept then. */
export const inTransactionBlock = async <T>(query: Query, work: () => Promise<T>): Promise<T> => {
  await query('begin')
  try {
    const value = await work()
    await query('commit')
    return value
  } catch (error) {
    await query('rollback').catch(() => undefined)
    throw error
  }
}

const ask = async <R extends object>(
  client: pg.ClientBase,
  settings: SettingPairs | null,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<R>> => {
  try {
    return await (settings === null ? client.query<R>(query) : askPooled<R>(client, settings, query))
  } catch (error) {
    throw classify(error, null)
  }
}

/** Within a transaction that the statement begins, or its implicit one, or the current one. */
const askPooled = async <R extends object>(
  client: pg.ClientBase,
  settings: SettingPairs,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<R>> => {
  const opening = `reset all; select where case ${localArms([['role', 'none'], ...settings])} else true end`
  if (client.getTransactionStatus() !== 'I') return client.query<R>(query)
  if (/^\s*(?:begin|start\s+transaction)\b/i.test(query.text)) {
    const begun = await client.query<R>(query)
    await client.query(opening)
    return begun
  }
  await client.query(`begin; ${opening}`)
  try {
    const result = await client.query<R>(query)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

interface SessionOptions {
  readonly url: string
  readonly connectTimeout?: number
  readonly statementTimeout?: number
  /** Null: search path and time zone of the role and database, for statements that depend on them. */
  readonly searchPath?: null
}

/**
 * Opens a connection, lends it to `work` and closes it: for several statements in one session, such as a transaction.
 * The search path is pg_catalog alone unless the options say otherwise, so that no object of the database's owner can
 * shadow a function of Postgres. Rejects with DatabaseFailure or with the error of `work`.
 */
export const withSession = async <T>(
  options: SessionOptions,
  work: (query: Query, command: SessionCommand) => Promise<T>,
): Promise<T> => {
  const timeout = options.statementTimeout ?? 0
  const settings = options.searchPath === null ? startupSettings(null, timeout) : ownSettings(['pg_catalog'], timeout)
  const connectionTimeoutMillis = options.connectTimeout ?? 5_000
  const server = serverOf(options.url, settings)
  const { client, pooled } = await createOpen(openingOf(server, { connectionTimeoutMillis }), 'auto')().catch(
    throwConnecting,
  )
  const local = pooled ? server.settings : null
  try {
    return await work(queryOn(client, local), commandOn(client, local))
  } finally {
    await client.end()
  }
}

/**
 * How connections reach Postgres: directly, or through a pooler, which may give each transaction another backend. A
 * pooler drops the settings of the startup packet, or refuses the connection because of them; connections to a pooler
 * are opened without them, and each transaction sets them.
 */

export interface Opened<C extends pg.ClientBase> {
  readonly client: C
  readonly pooled: boolean
}

const whoAnswers = 'select pg_catalog.pg_backend_pid() as pid'

/** A pooler gives its clients cancel keys of its own, so they name another process than the backend. */
const isPooled = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ readonly pid: number }>(whoAnswers)
  return rows[0]?.pid !== (client as unknown as { readonly processID: number }).processID
}

/** protocol_violation. */
const isRefusal = (error: unknown): boolean => sqlstateOf(error) === '08P01'

const withoutOptions: pg.ClientConfig = { options: '' }

/** admin_shutdown: an administrator terminated the backend, or the server is stopping. */
const isTerminated = (error: unknown): boolean => sqlstateOf(error) === '57P01'

/** Opens a connection, with or without settings in the startup packet. Rejects with the errors of `connect`. */
export const createOpen = <C extends pg.ClientBase>(
  { connect, end }: Opening<C>,
  setting: PoolerSetting,
): (() => Promise<Opened<C>>) => {
  if (setting !== 'auto') {
    const pooled = setting !== 'none'
    return async () => ({ client: await connect(pooled ? withoutOptions : {}), pooled })
  }
  /** As found with the last connection. */
  let behindPooler = false
  const known = new WeakMap<C, boolean>()
  const look = async (client: C): Promise<boolean> => {
    try {
      return known.get(client) ?? (await isPooled(client))
    } catch (error) {
      end(client)
      throw error
    }
  }
  /** Only a pooler refuses the options. */
  const attempt = async (refused: boolean, connected: () => void): Promise<Opened<C>> => {
    const without = refused || behindPooler
    let client: C
    try {
      client = await connect(without ? withoutOptions : {})
    } catch (error) {
      if (without || !isRefusal(error)) throw error
      return attempt(true, connected)
    }
    connected()
    const pooled = refused || (await look(client))
    known.set(client, pooled)
    behindPooler = pooled
    if (pooled || !without) return { client, pooled }
    end(client)
    return attempt(false, connected)
  }
  return () => {
    let isConnected = false
    const open = (): Promise<Opened<C>> => {
      isConnected = false
      return attempt(false, () => (isConnected = true))
    }
    return retry(retries.newConnection, open, (error) => isConnected || isTerminated(error))
  }
}
