import pg from 'pg'
import type { RunExchange } from '../../contract/execution.ts'
import type { ByteBudget } from '../../lib/byte-budget.ts'
import { retries, retry } from '../../lib/retry.ts'
import { createPlaces, type Places, type Speed } from '../../lib/sharing/places.ts'
import { createCancellations, type EndCause } from './cancel.ts'
import { throwConnecting } from '../failures/classify.ts'
import { isAway } from '../failures/failures.ts'
import {
  closeConnections,
  connectionStats,
  createConnectionPool,
  refuseWaiters,
  type ConnectionStats,
} from './connections.ts'
import { createSchemaMarks } from '../check/schema-marks.ts'
import { findPooler, type Pooler } from '../connect/pooler.ts'
import { createRoleSettings } from '../check/role-settings.ts'
import { createRunOnConnection } from '../check/transaction.ts'
import { createAnswerMemory } from './answer-memory.ts'
import { createRunner, endRunning, runOn, runWith } from './run.ts'
import { queryOn, type Query, createOpen, type Opened } from '../connect/session.ts'
import { serverOf, type Opening, type Server } from '../connect/server.ts'
import { extensionSchema, ownSettings, startupSettings, usualLockTimeout } from '../connect/startup.ts'
import { openTo } from './connecting.ts'
import type { PoolerSetting } from '../../settings/keys.ts'

export interface DatabaseOptions {
  readonly url: string
  /** Served schemas, in order; they become the search path, and what extensions put into `extensions` after them. */
  readonly schemas: readonly string[]
  /** The connections that callers share; service_role and our own statements have two more (docs/sharing.md). */
  readonly poolSize?: number
  /**
   * Milliseconds for one statement, enforced by Postgres; 0 sets no limit. Left out: the login role's own statement_timeout,
   * or else 30 s. A role's own holds for the requests that run as it.
   */
  readonly statementTimeout?: number | undefined
  /** Milliseconds that a statement waits for a lock, in the same way; left out: the login role's own, or else 2 s. */
  readonly lockTimeout?: number | undefined
  /** Milliseconds to wait for a connection, be it a new one or one that others hold. */
  readonly connectTimeout?: number
  /** The time zone of requests; without it that of the database or of the login role. */
  readonly timeZone?: string
  /** Left out: it is found out. */
  readonly pooler?: PoolerSetting
  /** The memory that answers share; left out: it is not counted. */
  readonly answers?: ByteBudget
  /** Present for a standby. */
  readonly replaying?: {
    /**
     * How long a statement waits for a lock, in milliseconds. Replaying alone holds locks there that a reader waits for, and it
     * may wait for that reader itself, which Postgres does not notice.
     */
    readonly lockTimeoutMs: number
  }
}

export interface Database {
  readonly run: RunExchange
  /**
   * One statement of our own as the login role, search path pg_catalog. It never shares a connection with requests, so
   * that no state of a request's session reaches it. Rejects with DatabaseFailure.
   */
  readonly query: Query
  /** Acquires one of the same connections, for several statements in a row. */
  readonly session: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  /** Resolves when Postgres answers; rejects with DatabaseFailure of kind unavailable. */
  readonly ping: () => Promise<void>
  /** The pooler in front of Postgres, if any. Rejects if no connection can be opened. */
  readonly pooler: () => Promise<Pooler>
  /** When Postgres last answered a request, on the monotonic clock in milliseconds; -Infinity: not yet. */
  readonly answeredAt: () => number
  readonly stats: () => PoolStats
  /** Cancels what runs and refuses what waits or comes: each fails with DatabaseFailure of kind stopping. */
  readonly stop: () => void
  /** Waits for what is running, then closes every connection. */
  readonly close: () => Promise<void>
}

/** Numbers of this moment, of the connections for requests. */
export interface PoolStats extends ConnectionStats {
  /** Requests that were cancelled in Postgres so far, by cause. */
  readonly ended: Readonly<Record<EndCause, number>>
}

const ownConnections = 2

const usualPoolSize = 8
const usualConnectTimeout = 5_000

/** Answers that may wait for room with a connection each: most connections go on serving. */
const mostPausedOf = (poolSize: number): number => Math.min(poolSize - 1, Math.ceil(poolSize / 4))

/** Connections for our own queries, with pg's own ways of asking. */
const openPool = (connectTimeout: number): pg.Pool => {
  const pool = new pg.Pool({
    max: ownConnections,
    connectionTimeoutMillis: connectTimeout,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  })
  // The pool drops a connection that dies and rejects its query; without listeners the process would end.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

const destroyClient = (client: pg.PoolClient): void => client.release(true)

/** The pool makes its next client from its options as they are then. */
const openingIn = (pool: pg.Pool, server: Server): Opening<pg.PoolClient> => ({
  connect: (config) =>
    server.connect({
      connect: (target) => {
        Object.assign(pool.options, target, config)
        return pool.connect()
      },
      end: destroyClient,
    }),
  end: destroyClient,
})

const withClient = async <T>(
  open: () => Promise<Opened<pg.PoolClient>>,
  work: (client: pg.PoolClient, pooled: boolean) => Promise<T>,
): Promise<T> => {
  const { client, pooled } = await open().catch(throwConnecting)
  let failed = true
  try {
    const value = await work(client, pooled)
    failed = false
    return value
  } finally {
    client.release(failed)
  }
}

/**
 * Our own single statements look, or may be done twice: one whose connection died under it is asked once more, on another
 * connection. One that finds no connection is not.
 */
const queryOf =
  (session: Database['session']): Query =>
  <R extends object>(text: string, values?: readonly unknown[], name?: string) => {
    let connected = false
    const ask = (): Promise<{ readonly rows: readonly R[] }> => {
      connected = false
      return session((run) => {
        connected = true
        return run<R>(text, values, name)
      })
    }
    return retry(retries.ownStatement, ask, (error) => connected && isAway(error))
  }

/** A read of one row takes less than 2 ms. */
const speed: Speed = { slowMs: 100, mostCredit: 10, quickFrom: 5, price: 5, keptMs: 1_000 }

/** For service_role and our own statements only, but in a small pool: fewer than five places cannot be shared well. */
const beyond = 2
const fewestShared = 5

/** The connections of a pool, however small it is. */
const placesOf = (poolSize: number): Places => {
  const max = poolSize + beyond
  const size = Math.max(poolSize, Math.min(fewestShared, max))
  return createPlaces({ size, beyond: max - size, speed })
}

const usualStatementTimeout = 30_000

/**
 * The statement that reads changes of the catalogue takes five times as long to plan as to run, and by default Postgres plans a
 * prepared statement five times before it keeps a plan (PostgreSQL manual, PREPARE).
 */
const plannedOnce = { plan_cache_mode: 'force_generic_plan' }

const terminate = 'select pg_terminate_backend($1)'

/** Opens nothing yet: connections are made when they are first needed, and again whenever they were lost. */
export const openDatabase = (options: DatabaseOptions): Database => {
  const timeout = options.statementTimeout ?? usualStatementTimeout
  const connectTimeout = options.connectTimeout ?? usualConnectTimeout
  const { timeZone, answers, pooler = 'auto', replaying } = options
  const poolSize = options.poolSize ?? usualPoolSize
  const settings = {
    ...startupSettings([...options.schemas, extensionSchema], timeout),
    lock_timeout: String(options.lockTimeout ?? usualLockTimeout),
    ...(timeZone !== undefined && { TimeZone: timeZone }),
    ...(replaying !== undefined && { lock_timeout: String(replaying.lockTimeoutMs) }),
  }
  const server = serverOf(options.url, settings)
  const connections = createConnectionPool({
    server,
    pooler,
    places: placesOf(poolSize),
    connectTimeout,
    described: null,
  })
  // A shorter limit of requests does not apply to reading a catalogue.
  const ownTimeout = timeout === 0 ? 0 : Math.max(timeout, usualStatementTimeout)
  const own = openPool(connectTimeout)
  const ownServer = serverOf(options.url, { ...ownSettings(['pg_catalog'], ownTimeout), ...plannedOnce })
  const openOwn = createOpen(openingIn(own, ownServer), pooler)
  const session: Database['session'] = (work) =>
    withClient(openOwn, (client, pooled) => work(queryOn(client, pooled ? ownServer.settings : null)))
  const query = queryOf(session)
  const marks = createSchemaMarks(query, Date.now)
  const runner = createRunner({
    connections,
    marks,
    cancellations: createCancellations((processId) => query(terminate, [processId])),
    settings: createRoleSettings({
      query,
      inherited: [
        ...(options.statementTimeout === undefined ? ['statement_timeout'] : []),
        ...(options.lockTimeout === undefined && replaying === undefined ? ['lock_timeout'] : []),
      ],
      ownTimeZone: timeZone !== undefined,
    }),
    runOnConnection: createRunOnConnection(timeZone === undefined ? [] : [['TimeZone', timeZone]]),
    answerMemory: answers === undefined ? null : createAnswerMemory({ answers, mostPaused: mostPausedOf(poolSize) }),
    timeout,
  })
  return {
    run: runWith(runOn(runner), replaying !== undefined),
    query,
    session,
    ping: async () => {
      await query('select 1').catch(throwConnecting)
    },
    pooler: () =>
      findPooler(openTo(server, 'auto', { connectionTimeoutMillis: connectTimeout })).catch(throwConnecting),
    answeredAt: () => runner.answeredAt,
    stats: () => ({ ...connectionStats(connections), ended: runner.ended }),
    stop: () => {
      refuseWaiters(connections, 'stopping')
      endRunning(runner, 'stopping')
    },
    close: async () => {
      await Promise.all([closeConnections(connections), own.end()])
    },
  }
}

/** Opens a database of one connection for `work`, and closes it. */
export async function withDatabase<T>(
  options: Omit<DatabaseOptions, 'poolSize'>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ ...options, poolSize: 1 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
