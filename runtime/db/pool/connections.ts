import type pg from 'pg'
import type { RequestContext } from '../../contract/execution.ts'
import { createBackoff, type Backoff } from '../../lib/retry.ts'
import type { Lease, Places } from '../../lib/sharing/places.ts'
import { classifyConnecting } from '../failures/classify.ts'
import type { Connection } from '../wire/exchange.ts'
import { createConnect, type ConnectingOptions } from './connecting.ts'
import { createWaiting, refusedConnection, type Waiting } from './waiting.ts'

/** Numbers of this moment. */
export interface ConnectionStats {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** `connectTimeout` holds for waiting for a connection that others hold as well. */
export interface ConnectionPoolOptions extends ConnectingOptions {
  readonly places: Places
}

const idleMs = 60_000
/** How much later than it says idling may end. */
const sweepEveryMs = 1_000

interface Idle {
  readonly connection: Connection
  /** The monotonic clock, in milliseconds. */
  readonly since: number
}

/** A pool: connections are opened on demand, acquired by one request at a time and kept idle for the next. */
export interface ConnectionPool {
  readonly places: Places
  readonly connect: () => Promise<Connection>
  readonly waiting: Waiting
  readonly backoff: Backoff
  /** Taken from the end, so those that were idle for longest stand first. */
  readonly idle: Idle[]
  /** Null: of an idle connection. */
  readonly leases: WeakMap<Connection, Lease | null>
  /** Connections that are there or being made. */
  open: number
  sweeping: NodeJS.Timeout | null
  rechecking: NodeJS.Timeout | null
  lastFailure: unknown
  /** Why each request is refused. */
  refusing: 'stopping' | null
  /** To be called when the last connection of a closed pool has left. */
  onClosed: (() => void) | null
}

export const createConnectionPool = (options: ConnectionPoolOptions): ConnectionPool => ({
  places: options.places,
  connect: createConnect(options),
  waiting: createWaiting(options.places, options.connectTimeout),
  backoff: createBackoff(() => performance.now()),
  idle: [],
  leases: new WeakMap(),
  open: 0,
  sweeping: null,
  rechecking: null,
  lastFailure: null,
  refusing: null,
  onClosed: null,
})

/**
 * Immediate if one is idle and the request's share allows it. Fails with DatabaseFailure: unavailable if none can be
 * opened, overloaded after the time limit or with too many waiting, deadline, gone or stopping.
 */
export const acquireConnection = (pool: ConnectionPool, context?: RequestContext): Connection | Promise<Connection> => {
  if (pool.refusing !== null) throw refusedConnection(pool.refusing)
  if (pool.onClosed !== null) throw classifyConnecting(new Error('The connections are closed.'))
  if (context?.aborted === true) throw refusedConnection('gone')
  const found = pool.places.mayTake(context) ? idleOrNew(pool) : null
  if (found !== null) return grantConnection(pool, context, found)
  const waited = pool.waiting.wait(context)
  scheduleRecheck(pool)
  return waited
}

/** @param destroy closes the connection instead: its state is unknown */
export const releaseConnection = (pool: ConnectionPool, connection: Connection, destroy: boolean): void => {
  const { leases, waiting } = pool
  const lease = leases.get(connection) ?? null
  if (lease !== null) pool.places.release(lease)
  leases.set(connection, null)
  // Its end makes room for another.
  if (connection.client.connection.stream.destroyed) return serveWaiting(pool)
  if (destroy) endClient(connection.client)
  else keepIdle(pool, connection)
  if (waiting.queued.count > 0) serveWaiting(pool)
  if (pool.onClosed !== null) endIdle(pool, pool.idle.length)
}

export const connectionStats = ({ open, idle, waiting }: ConnectionPool): ConnectionStats => ({
  open,
  idle: idle.length,
  waiting: waiting.queued.count,
})

/** Refuses all waiting requests, and every later one. */
export const refuseWaiters = (pool: ConnectionPool, kind: 'stopping'): void => {
  pool.refusing = kind
  pool.waiting.refuseAll(kind)
}

/** Waits until all connections are released, then closes them. */
export const closeConnections = async (pool: ConnectionPool): Promise<void> => {
  const gone = new Promise<void>((resolve) => (pool.onClosed = resolve))
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

const endIdle = (pool: ConnectionPool, count: number): void => {
  for (const { connection } of pool.idle.splice(0, count)) endClient(connection.client)
  if (pool.idle.length > 0 || pool.sweeping === null) return
  clearInterval(pool.sweeping)
  pool.sweeping = null
}

/** Sends Terminate; the connection's `end` event reports the result. */
export const endClient = (client: pg.Client): void => void client.end().catch(() => undefined)

/** Null: all that may be open are in use. */
const idleOrNew = (pool: ConnectionPool): Connection | Promise<Connection> | null =>
  pool.idle.pop()?.connection ?? (pool.open < pool.places.max ? openConnection(pool) : null)

const openConnection = async (pool: ConnectionPool): Promise<Connection> => {
  const { backoff, idle } = pool
  if (backoff.waiting()) throw classifyConnecting(pool.lastFailure)
  pool.open += 1
  try {
    const connection = await pool.connect()
    backoff.succeeded()
    connection.client.connection.once('end', () => {
      const at = idle.findIndex((one) => one.connection === connection)
      if (at !== -1) idle.splice(at, 1)
      connectionEnded(pool)
    })
    return connection
  } catch (error) {
    pool.lastFailure = error
    backoff.failed()
    connectionEnded(pool)
    throw classifyConnecting(error)
  }
}

const connectionEnded = (pool: ConnectionPool): void => {
  pool.open -= 1
  serveWaiting(pool)
  if (pool.open === 0) pool.onClosed?.()
}

const grantConnection = (
  pool: ConnectionPool,
  context: RequestContext | undefined,
  found: Connection | Promise<Connection>,
): Connection | Promise<Connection> => {
  const lease = pool.places.take(context)
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
      pool.places.release(lease)
      serveWaiting(pool)
      throw error
    },
  )
}

const serveWaiting = (pool: ConnectionPool): void => {
  const { waiting, places } = pool
  while (waiting.queued.count > 0 && (pool.idle.length > 0 || pool.open < places.max)) {
    const next = waiting.next()
    if (next === null) return scheduleRecheck(pool)
    const found = idleOrNew(pool)
    if (found === null) return
    next.onGranted(grantConnection(pool, next.sharer, found))
  }
}

/** A request that waits although connections are free may be allowed later. */
const scheduleRecheck = (pool: ConnectionPool): void => {
  const { idle, open, places, rechecking, waiting } = pool
  if (rechecking !== null || waiting.queued.count === 0 || (idle.length === 0 && open >= places.max)) return
  pool.rechecking = setTimeout(() => {
    pool.rechecking = null
    serveWaiting(pool)
  }, places.recheckMs).unref()
}
