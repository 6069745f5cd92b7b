import type pg from 'pg'
import { classify, classifyConnecting } from '../failures/classify.ts'
import { openClient, serverOf } from './server.ts'
import { ownSettings, startupSettings } from './startup.ts'

/** Runs one of our own statements as the login role. Rejects with DatabaseFailure. */
export type Query = <R extends object>(
  text: string,
  values?: readonly unknown[],
) => Promise<{ readonly rows: readonly R[] }>

/** Runs exactly one statement: the server refuses a text with two. Rejects with DatabaseFailure. */
export type SessionCommand = (text: string) => Promise<void>

/** The extended protocol takes one statement at a time (PostgreSQL manual, 53.2.3). */
interface ExtendedQuery extends pg.QueryConfig {
  readonly queryMode: 'extended'
}

const commandOn =
  (client: pg.ClientBase): SessionCommand =>
  async (text) => {
    const query: ExtendedQuery = { text, queryMode: 'extended' }
    await client.query(query).catch((error: unknown) => {
      throw classify(error, null)
    })
  }

export const queryOn =
  (client: pg.ClientBase): Query =>
  async <R extends object>(text: string, values: readonly unknown[] = []) => {
    try {
      return { rows: (await client.query<R>(text, [...values])).rows }
    } catch (error) {
      throw classify(error, null)
    }
  }

export interface SessionOptions {
  readonly url: string
  readonly connectTimeout?: number
  readonly statementTimeout?: number
  /** Null: the one that role and database have, and their time zone, for statements that were written for both. */
  readonly searchPath?: null
}

/**
 * Opens a connection of its own, lends it to `work` and closes it: for several statements in one session, such as a
 * transaction. The search path is pg_catalog alone unless the options say otherwise, so that no object of the
 * database's owner can replace a function of Postgres. Rejects with DatabaseFailure or with the error of `work`.
 */
export const withSession = async <T>(
  options: SessionOptions,
  work: (query: Query, command: SessionCommand) => Promise<T>,
): Promise<T> => {
  const timeout = options.statementTimeout ?? 0
  const settings = options.searchPath === null ? startupSettings(null, timeout) : ownSettings(['pg_catalog'], timeout)
  const connectionTimeoutMillis = options.connectTimeout ?? 5_000
  const client = await openClient(serverOf(options.url, settings), { connectionTimeoutMillis }).catch(
    (error: unknown) => {
      throw classifyConnecting(error)
    },
  )
  try {
    return await work(queryOn(client), commandOn(client))
  } finally {
    await client.end()
  }
}
