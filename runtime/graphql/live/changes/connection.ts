import type pg from 'pg'
import { createOpen, queryOn, type Query } from '../../../db/connect/session.ts'
import { openingOf, serverOf } from '../../../db/connect/server.ts'
import { ownSettings } from '../../../db/connect/startup.ts'
import { throwConnecting } from '../../../db/failures/classify.ts'

/** A permanent reason why changes are not reported; a setting must be changed first. */
export class FeedFault extends Error {
  override readonly name = 'FeedFault'
}

/** A connection with its own backend. */
export interface FeedConnection {
  readonly query: Query
  readonly processId: number
  /** Sets the receiver of notifications, by channel. */
  readonly onNotice: (hear: (channel: string) => void) => void
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>
  readonly end: () => void
}

/**
 * Postgres ends a connection that is silent for longer, in milliseconds: a hanging process does not lead for long, and
 * does not keep notifications in the queue.
 */
const silenceMs = 20_000

/**
 * In milliseconds. A longer wait is for a statement that drops the service's objects, which waits for the leader in turn:
 * the session ends.
 */
const lockTimeoutMs = 1_000

const settings = {
  ...ownSettings(['pg_catalog'], 0),
  lock_timeout: String(lockTimeoutMs),
  idle_session_timeout: String(silenceMs),
  idle_in_transaction_session_timeout: String(silenceMs),
}

/** PostgreSQL 17 may end long transactions (transaction_timeout); the leader's is long, and holds nothing back. */
const unlimited = `select pg_catalog.set_config(name, '0', false) from pg_catalog.pg_settings
  where name = 'transaction_timeout'`

interface Facts {
  readonly standby: boolean
  readonly prepares: boolean
  readonly ready: boolean
}

const facts = `select pg_catalog.pg_is_in_recovery() as standby,
  pg_catalog.current_setting('max_prepared_transactions')::int > 0 as prepares,
  coalesce((select pg_catalog.has_table_privilege(c.oid, 'select') from pg_catalog.pg_class c
    where c.relnamespace = pg_catalog.to_regnamespace('catalograph') and c.relname = 'live_changes'), false) as ready`

const faults: readonly (readonly [holds: (facts: Facts) => boolean, sentence: string])[] = [
  [
    ({ standby }) => standby,
    'the connection leads to a standby: set DATABASE_LISTEN_URL to one that leads to the primary',
  ],
  [
    ({ prepares }) => prepares,
    'max_prepared_transactions is not 0, and PREPARE TRANSACTION fails after a change was reported',
  ],
  [({ ready }) => !ready, 'the database is not prepared for live queries: run catalograph prepare as its owner'],
]

const check = async (query: Query): Promise<void> => {
  const [seen] = (await query<Facts>(facts)).rows
  const found = faults.find(([holds]) => seen !== undefined && holds(seen))
  if (found !== undefined) throw new FeedFault(found[1])
  await query(unlimited)
}

export type OpenFeedConnection = () => Promise<FeedConnection>

/** One statement after the other: pg must not get one while it runs another. */
const inTurn = (query: Query): Query => {
  let last: Promise<unknown> = Promise.resolve()
  return <R extends object>(text: string, values?: readonly unknown[], name?: string) => {
    const next = last.then(() => query<R>(text, values, name))
    last = next.catch(() => undefined)
    return next
  }
}

const connectionOf = (client: pg.Client): FeedConnection => ({
  query: inTurn(queryOn(client, null)),
  processId: (client as unknown as { readonly processID: number }).processID,
  onNotice: (hear) => void client.on('notification', ({ channel }) => hear(channel)),
  ended: new Promise((resolve) => {
    client.once('end', resolve)
    client.once('error', () => resolve())
  }),
  end: () => {
    client.end().catch(() => undefined)
    client.connection.stream.destroy()
  },
})

/** Each call rejects with DatabaseFailure if the server is unavailable, or with FeedFault. */
export const createOpenFeedConnection = (url: string): OpenFeedConnection => {
  const config = { connectionTimeoutMillis: 5_000, keepAlive: true }
  const open = createOpen(openingOf(serverOf(url, settings), config), 'auto')
  return async () => {
    const { client, pooled } = await open().catch(throwConnecting)
    const connection = connectionOf(client)
    try {
      if (pooled)
        throw new FeedFault(
          'a pooler is in front of the database: set DATABASE_LISTEN_URL to a URL that leads around it',
        )
      await check(connection.query)
      return connection
    } catch (error) {
      connection.end()
      throw error
    }
  }
}
