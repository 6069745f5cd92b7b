import type { RequestContext } from '../../contract/execution.ts'
import { createBackoff } from '../connect/backoff.ts'
import { classifyConnecting } from '../failures/classify.ts'
import type { Connection } from '../wire/exchange.ts'
import { noLease, type Lease, type Shares } from './shares.ts'
import { createConnect, type ConnectingOptions } from './connecting.ts'
import { createWaiting, notLent } from './waiting.ts'

/** Connections that are lent to one borrower at a time, made when they are needed and kept for the next. */
export interface ConnectionPool {
  /**
   * At once where one is idle and the request's share allows. Fails with DatabaseFailure: unavailable where none can be made,
   * overloaded where it waited in vain or too many wait, deadline, gone or stopping.
   */
  readonly borrow: (context?: RequestContext) => Connection | Promise<Connection>
  /** A spoilt connection is closed: it must serve no other request. */
  readonly giveBack: (connection: Connection, spoilt: boolean) => void
  readonly stats: () => ConnectionStats
  /** Refuses all waiting requests, and every later one. */
  readonly refuseAll: (kind: 'stopping') => void
  /** Waits for what is lent, then closes every connection. */
  readonly close: () => Promise<void>
}

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

/** Sends Terminate; the connection's `end` event reports the result. */
const end = ({ client }: Connection): void => void client.end().catch(() => undefined)

/** Unused connections, until they are borrowed or were idle for too long. */
interface IdleConnections {
  readonly keep: (connection: Connection) => void
  /** The one that was kept last. */
  readonly take: () => Connection | undefined
  readonly forget: (connection: Connection) => void
  readonly size: () => number
  readonly endAll: () => void
}

const createIdleConnections = (): IdleConnections => {
  // Taken from the end, so those that were idle for longest stand first.
  const idle: Idle[] = []
  let sweeping: NodeJS.Timeout | null = null
  const endFirst = (count: number): void => {
    for (const { connection } of idle.splice(0, count)) end(connection)
    if (idle.length > 0 || sweeping === null) return
    clearInterval(sweeping)
    sweeping = null
  }
  const sweep = (): void => {
    const now = performance.now()
    const fresh = idle.findIndex(({ since }) => now - since < idleMs)
    endFirst(fresh === -1 ? idle.length : fresh)
  }
  return {
    keep: (connection) => {
      idle.push({ connection, since: performance.now() })
      sweeping ??= setInterval(sweep, sweepEveryMs).unref()
    },
    take: () => idle.pop()?.connection,
    forget: (connection) => {
      const at = idle.findIndex((one) => one.connection === connection)
      if (at !== -1) idle.splice(at, 1)
    },
    size: () => idle.length,
    endAll: () => endFirst(idle.length),
  }
}

export const createConnectionPool = (options: ConnectionPoolOptions): ConnectionPool => {
  const { shares } = options
  const connect = createConnect(options)
  const idle = createIdleConnections()
  const waiting = createWaiting(shares, options.connectTimeout)
  const backoff = createBackoff(() => performance.now())
  /** Of a connection that is not lent: `noLease`. */
  const leases = new WeakMap<Connection, Lease>()
  /** Connections that are there or being made. */
  let open = 0
  let closed: (() => void) | null = null
  let refusing: 'stopping' | null = null
  let rechecking: NodeJS.Timeout | null = null
  let lastFailure: unknown = null

  const make = async (): Promise<Connection> => {
    if (backoff.waiting()) throw classifyConnecting(lastFailure)
    open += 1
    try {
      const connection = await connect()
      backoff.succeeded()
      connection.client.connection.once('end', () => {
        idle.forget(connection)
        left()
      })
      return connection
    } catch (error) {
      lastFailure = error
      backoff.failed()
      left()
      throw classifyConnecting(error)
    }
  }
  /** Null: all that may be open are in use. */
  const find = (): Connection | Promise<Connection> | null => idle.take() ?? (open < shares.max ? make() : null)
  const lend = (
    context: RequestContext | undefined,
    found: Connection | Promise<Connection>,
  ): Connection | Promise<Connection> => {
    const lease = shares.take(context)
    if (!(found instanceof Promise)) {
      leases.set(found, lease)
      return found
    }
    return found.then(
      (connection) => {
        leases.set(connection, lease)
        return connection
      },
      (error: unknown) => {
        lease()
        serveWaiting()
        throw error
      },
    )
  }
  /** Hands out what is there to those whose turn it is. */
  const serveWaiting = (): void => {
    while (waiting.queued.count > 0 && (idle.size() > 0 || open < shares.max)) {
      const next = waiting.next()
      if (next === null) return recheck()
      const found = find()
      if (found === null) return
      next.take(lend(next.context, found))
    }
  }
  /** Those who wait although connections are free may be served in a while. */
  const recheck = (): void => {
    if (shares.recheckMs === null || rechecking !== null || waiting.queued.count === 0) return
    rechecking = setTimeout(() => {
      rechecking = null
      serveWaiting()
    }, shares.recheckMs).unref()
  }
  const left = (): void => {
    open -= 1
    serveWaiting()
    if (open === 0) closed?.()
  }

  return {
    borrow: (context) => {
      if (refusing !== null) throw notLent(refusing)
      if (closed !== null) throw classifyConnecting(new Error('The connections are closed.'))
      if (context?.gone === true) throw notLent('gone')
      const found = shares.mayTake(context) ? find() : null
      if (found !== null) return lend(context, found)
      const waited = waiting.wait(context)
      recheck()
      return waited
    },
    giveBack: (connection, spoilt) => {
      leases.get(connection)?.()
      leases.set(connection, noLease)
      // Its end makes room for another.
      if (connection.client.connection.stream.destroyed) return serveWaiting()
      if (spoilt) end(connection)
      else idle.keep(connection)
      if (waiting.queued.count > 0) serveWaiting()
      if (closed !== null) idle.endAll()
    },
    stats: () => ({ open, idle: idle.size(), waiting: waiting.queued.count }),
    refuseAll: (kind) => {
      refusing = kind
      waiting.refuseAll(kind)
    },
    close: async () => {
      const gone = new Promise<void>((resolve) => (closed = resolve))
      idle.endAll()
      if (open > 0) await gone
    },
  }
}
