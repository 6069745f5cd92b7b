import pg from 'pg'
import type { Exchange, RunExchange } from '../contract/execution.ts'
import { after } from '../lib/after.ts'
import { createDeadlines, type SetDeadline } from '../lib/deadlines.ts'
import { classifyConnecting, spoilsConnection, sqlstateOf } from './classify.ts'
import type { ExchangeResult, Line } from './exchange.ts'
import { createLines, type Lines } from './lines.ts'
import { createMarks, type Marks } from './marks.ts'
import { queryOn, type Query } from './session.ts'
import { connectionConfig, startupSettings, type StartupSettings } from './startup.ts'
import { isOutdated, isUnchecked, outcome, runOnLine, type Reliance } from './transaction.ts'

export interface DatabaseOptions {
  readonly url: string
  /** Served schemas, in order; they become the search path, and what extensions put into `extensions` after them. */
  readonly schemas: readonly string[]
  readonly poolSize?: number
  /** Milliseconds for one statement, enforced by Postgres; 0 sets no limit. */
  readonly statementTimeout?: number
  /** Milliseconds to wait for a connection, be it a new one or one that others hold. */
  readonly connectTimeout?: number
}

export interface Database {
  readonly run: RunExchange
  /**
   * One statement of our own as the login role, search path pg_catalog. It never shares a connection with requests, so
   * that nothing a request left behind reaches it. Rejects with DatabaseFailure.
   */
  readonly query: Query
  /** Lends one of the same connections, for several statements in a row. */
  readonly session: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  /** Resolves when Postgres answers; rejects with DatabaseFailure of kind unavailable. */
  readonly ping: () => Promise<void>
  /** Waits for what is running, then closes every connection. */
  readonly close: () => Promise<void>
}

/** What a request may take beyond its statements' own time limit before the connection counts as dead. */
const answerGrace = 5_000

const ownConnections = 2

const usualConnectTimeout = 5_000

/**
 * Where hosted databases install extensions (spec 9.1). Their operators are found by the search path alone: citext has
 * its own `=`.
 */
const extensionSchema = 'extensions'

/** Connections for our own queries, with pg's own ways of asking. */
const openPool = (options: DatabaseOptions, settings: StartupSettings, max: number): pg.Pool => {
  const pool = new pg.Pool({
    ...connectionConfig(options.url, settings),
    max,
    connectionTimeoutMillis: options.connectTimeout ?? usualConnectTimeout,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  })
  // A connection that dies is dropped by the pool and its request told; without listeners the process would end.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

const withClient = async <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  const client = await pool.connect().catch((error: unknown) => {
    throw classifyConnecting(error)
  })
  let failed = true
  try {
    const value = await work(client)
    failed = false
    return value
  } finally {
    client.release(failed)
  }
}

const deadlineOf = (exchange: Exchange, timeout: number): number =>
  timeout === 0 ? 0 : Math.max(1, exchange.statements.length) * timeout + answerGrace

/** How much later than it says a server is given up. */
const lookEveryMs = 500

/** Gives up on a server that does not answer at all: its own statement_timeout comes first otherwise. 0 waits for ever. */
const deadlineFor = (line: Line, setDeadline: SetDeadline, deadline: number): (() => void) | null =>
  deadline === 0 ? null : setDeadline(deadline, () => void line.client.connection.stream.destroy())

/** A writing request may meet a read-only default that was left behind; in a reading one it is the request that is at fault. */
const isSuspect = (exchange: Exchange, error: unknown): boolean =>
  spoilsConnection(error) && !(exchange.readOnly && sqlstateOf(error) === '25006')

const isSpoilt = (exchange: Exchange, result: ExchangeResult): boolean =>
  result.kind === 'failed' && (result.broken || isSuspect(exchange, result.error))

/**
 * Runs an exchange on a line that is free by the time that the result is told. Fails where no line is to be had.
 */
type RunOnce = (exchange: Exchange, reliance: Reliance) => ExchangeResult | Promise<ExchangeResult>

const runOnce = (lines: Lines, timeout: number, { newest, tend }: Marks): RunOnce => {
  const setDeadline = createDeadlines(lookEveryMs)
  const runOn = (line: Line, exchange: Exchange, reliance: Reliance): Promise<ExchangeResult> =>
    new Promise((resolve, reject) => {
      const clear = deadlineFor(line, setDeadline, deadlineOf(exchange, timeout))
      const giveBack = (spoilt: boolean): void => {
        clear?.()
        lines.giveBack(line, spoilt)
      }
      try {
        runOnLine(line, exchange, newest(), reliance, (result) => {
          giveBack(isSpoilt(exchange, result))
          resolve(result)
        })
      } catch (error) {
        giveBack(true)
        reject(error)
      }
    })
  return (exchange, reliance) => {
    if (exchange.version !== null) tend()
    return after(lines.borrow(), (line) => runOn(line, exchange, reliance))
  }
}

/**
 * A name that Postgres forgot, or knows against our books, was the connection's state and not the request's fault. Nothing
 * was kept, so it runs once more elsewhere.
 */
const deservesAnother = (exchange: Exchange, result: ExchangeResult): boolean =>
  result.kind === 'failed' && !result.broken && isSuspect(exchange, result.error)

/** Fails where the schema is not that of the exchange, or its role not to be had. */
const check = async (once: RunOnce, { caller, version }: Exchange): Promise<void> => {
  const alone: Exchange = { caller, version, readOnly: true, statements: [] }
  outcome(alone, await once(alone, 'on nothing'))
}

const runWith =
  (once: RunOnce, forget: Marks['forget']): RunExchange =>
  async (exchange) => {
    let result = await once(exchange, 'on the snapshot')
    if (exchange.condition && isOutdated(exchange, result)) result = await once(exchange, 'on the mark')
    if (isOutdated(exchange, result)) {
      forget()
      result = await once(exchange, 'on nothing')
    }
    if (deservesAnother(exchange, result)) result = await once(exchange, 'on nothing')
    if (isUnchecked(exchange, result)) await check(once, exchange)
    return outcome(exchange, result)
  }

/** Opens nothing yet: connections are made when they are first needed, and again whenever they were lost. */
export const openDatabase = (options: DatabaseOptions): Database => {
  const timeout = options.statementTimeout ?? 30_000
  const settings = startupSettings([...options.schemas, extensionSchema], timeout)
  const requests = createLines({
    config: connectionConfig(options.url, settings),
    max: options.poolSize ?? 8,
    connectTimeout: options.connectTimeout ?? usualConnectTimeout,
    described: null,
  })
  const own = openPool(options, startupSettings(['pg_catalog'], timeout), ownConnections)
  const session: Database['session'] = (work) => withClient(own, (client) => work(queryOn(client)))
  const query: Query = (text, values) => session((run) => run(text, values))
  const marks = createMarks(query, Date.now)
  return {
    run: runWith(runOnce(requests, timeout, marks), marks.forget),
    query,
    session,
    ping: async () => {
      await query('select 1').catch((error: unknown) => {
        throw classifyConnecting(error)
      })
    },
    close: async () => {
      await Promise.all([requests.close(), own.end()])
    },
  }
}
