import type pg from 'pg'
import type { RequestContext } from '../../contract/execution.ts'
import { createBackoff, type Backoff } from '../../lib/retry.ts'
import { classifyConnecting } from '../failures/classify.ts'
import type { Connection } from '../wire/exchange.ts'
import { noLease, type Lease, type Shares } from './shares.ts'
import { createConnect, type ConnectingOptions } from './connecting.ts'
import { createWaiting, notLent, type Waiting } from './waiting.ts'

/** Numbers of this moment. */
export interface ConnectionStats {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** `connectTimeout` holds for waiting for a connection that others hold as well. */
export interface ConnectionPoolOptions extends ConnectingOptions {
  readonly shares: Shares
}

const idleMs = 60_000
/** How much later than it says idling may end. */
const sweepEveryMs = 1_000

interface Idle {
  readonly connection: Connection
  /** The monotonic clock, in milliseconds. */
  readonly since: number
}

/** Connections that are lent to one borrower at a time, made when they are needed and kept for the next. */
export interface ConnectionPool {
  readonly shares: Shares
  readonly connect: () => Promise<Connection>
  readonly waiting: Waiting
  readonly backoff: Backoff
  /** Taken from the end, so those that were idle for longest stand first. */
  readonly idle: Idle[]
  /** Of a connection that is not lent: `noLease`. */
  readonly leases: WeakMap<Connection, Lease>
  /** Connections that are there or being made. */
  open: number
  sweeping: NodeJS.Timeout | null
  rechecking: NodeJS.Timeout | null
  lastFailure: unknown
  /** Why every request is refused. */
  refusing: 'stopping' | null
  /** To be called when the last connection of a closed pool has left. */
  closed: (() => void) | null
}

export const createConnectionPool = (options: ConnectionPoolOptions): ConnectionPool => ({
  shares: options.shares,
  connect: createConnect(options),
  waiting: createWaiting(options.shares, options.connectTimeout),
  backoff: createBackoff(() => performance.now()),
  idle: [],
  leases: new WeakMap(),
  open: 0,
  sweeping: null,
  rechecking: null,
  lastFailure: null,
  refusing: null,
  closed: null,
})

/**
 * At once where one is idle and the request's share allows. Fails with DatabaseFailure: unavailable where none can be made,
 * overloaded where it waited in vain or too many wait, deadline, gone or stopping.
 */
export const borrow = (pool: ConnectionPool, context?: RequestContext): Connection | Promise<Connection> => {
  if (pool.refusing !== null) throw notLent(pool.refusing)
  if (pool.closed !== null) throw classifyConnecting(new Error('The connections are closed.'))
  if (context?.gone === true) throw notLent('gone')
  const found = pool.shares.mayTake(context) ? find(pool) : null
  if (found !== null) return lend(pool, context, found)
  const waited = pool.waiting.wait(context)
  recheck(pool)
  return waited
}

/** A spoilt connection is closed: it must serve no other request. */
export const giveBack = (pool: ConnectionPool, connection: Connection, spoilt: boolean): void => {
  const { leases, waiting } = pool
  leases.get(connection)?.()
  leases.set(connection, noLease)
  // Its end makes room for another.
  if (connection.client.connection.stream.destroyed) return serveWaiting(pool)
  if (spoilt) endClient(connection.client)
  else keepIdle(pool, connection)
  if (waiting.queued.count > 0) serveWaiting(pool)
  if (pool.closed !== null) endIdle(pool, pool.idle.length)
}

export const connectionStats = ({ open, idle, waiting }: ConnectionPool): ConnectionStats => ({
  open,
  idle: idle.length,
  waiting: waiting.queued.count,
})

/** Refuses all waiting requests, and every later one. */
export const refuseBorrowers = (pool: ConnectionPool, kind: 'stopping'): void => {
  pool.refusing = kind
  pool.waiting.refuseAll(kind)
}

/** Waits for what is lent, then closes every connection. */
export const closeConnections = async (pool: ConnectionPool): Promise<void> => {
  const gone = new Promise<void>((resolve) => (pool.closed = resolve))
  endIdle(pool, pool.idle.length)
  if (pool.open > 0) await gone
}

const keepIdle = (pool: ConnectionPool, connection: Connection): void => {
  pool.idle.push({ connection, since: performance.now() })
  pool.sweeping ??= setInterval(() => sweep(pool), sweepEveryMs).unref()
}

const sweep = (pool: ConnectionPool): void => {
  const now = performance.now()
  const fresh = pool.idle.findIndex(({ since }) => now - since < idleMs)
  endIdle(pool, fresh === -1 ? pool.idle.length : fresh)
}

/** Ends those that were idle for longest. */
const endIdle = (pool: ConnectionPool, count: number): void => {
  for (const { connection } of pool.idle.splice(0, count)) endClient(connection.client)
  if (pool.idle.length > 0 || pool.sweeping === null) return
  clearInterval(pool.sweeping)
  pool.sweeping = null
}

/** Sends Terminate; the connection's `end` event reports the result. */
export const endClient = (client: pg.Client): void => void client.end().catch(() => undefined)

/** Null: all that may be open are in use. */
const find = (pool: ConnectionPool): Connection | Promise<Connection> | null =>
  pool.idle.pop()?.connection ?? (pool.open < pool.shares.max ? make(pool) : null)

const make = async (pool: ConnectionPool): Promise<Connection> => {
  const { backoff, idle } = pool
  if (backoff.waiting()) throw classifyConnecting(pool.lastFailure)
  pool.open += 1
  try {
    const connection = await pool.connect()
    backoff.succeeded()
    connection.client.connection.once('end', () => {
      const at = idle.findIndex((one) => one.connection === connection)
      if (at !== -1) idle.splice(at, 1)
      left(pool)
    })
    return connection
  } catch (error) {
    pool.lastFailure = error
    backoff.failed()
    left(pool)
    throw classifyConnecting(error)
  }
}

const left = (pool: ConnectionPool): void => {
  pool.open -= 1
  serveWaiting(pool)
  if (pool.open === 0) pool.closed?.()
}

const lend = (
  pool: ConnectionPool,
  context: RequestContext | undefined,
  found: Connection | Promise<Connection>,
): Connection | Promise<Connection> => {
  const lease = pool.shares.take(context)
  if (!(found instanceof Promise)) {
    pool.leases.set(found, lease)
    return found
  }
  return found.then(
    (connection) => {
      pool.leases.set(connection, lease)
      return connection
    },
    (error: unknown) => {
      lease()
      serveWaiting(pool)
      throw error
    },
  )
}

/** Hands out what is there to those whose turn it is. */
const serveWaiting = (pool: ConnectionPool): void => {
  const { waiting, shares } = pool
  while (waiting.queued.count > 0 && (pool.idle.length > 0 || pool.open < shares.max)) {
    const next = waiting.next()
    if (next === null) return recheck(pool)
    const found = find(pool)
    if (found === null) return
    next.take(lend(pool, next.context, found))
  }
}

/** Those who wait although connections are free may be served in a while. */
const recheck = (pool: ConnectionPool): void => {
  const { recheckMs } = pool.shares
  if (recheckMs === null || pool.rechecking !== null || pool.waiting.queued.count === 0) return
  pool.rechecking = setTimeout(() => {
    pool.rechecking = null
    serveWaiting(pool)
  }, recheckMs).unref()
}
