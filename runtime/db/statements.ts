import pg from 'pg'
import { createBackoff, type Backoff } from './backoff.ts'
import { classify, classifyConnecting, spoilsConnection } from './classify.ts'
import { DatabaseFailure } from './failures.ts'
import { connectionConfig, startupSettings } from './startup.ts'

/**
 * Our own statements, one by one or several in a transaction: for services that keep their state in tables. Requests
 * of the data API run as the caller's role and go another way, see pool.ts.
 */

declare const rowOf: unique symbol

/** A statement of the source text: prepared once a connection under its name. `R` is the type of its rows. */
export interface Statement<R extends object> {
  readonly name: string
  readonly text: string
  readonly [rowOf]?: R
}

/** Runs a statement. Times come as Postgres prints them, with microseconds. Rejects with DatabaseFailure. */
export type RunStatement = <R extends object>(
  statement: Statement<R>,
  values?: readonly unknown[],
) => Promise<readonly R[]>

export interface StatementsDatabase {
  /** One statement, which is a transaction of its own. */
  readonly run: RunStatement
  /**
   * Several statements that are kept together or not at all: rolled back when `work` rejects. Work that met a deadlock
   * or a serialization failure is done anew, so it must have no other effect than its statements.
   */
  readonly transaction: <T>(work: (run: RunStatement) => Promise<T>) => Promise<T>
  /** Waits for what is running, then closes every connection. */
  readonly close: () => Promise<void>
}

export interface StatementsOptions {
  readonly url: string
  /** Schemas in which names without one are looked up, after pg_catalog. */
  readonly schemas: readonly string[]
  /** A role that every connection takes on, where it exists and the login may. */
  readonly role: string | null
  readonly poolSize: number
  /** Milliseconds for one statement, enforced by Postgres. */
  readonly statementTimeout: number
  readonly connectTimeout?: number
}

/** Names a statement. The name must be its own in the whole program. */
export function statement<R extends object>(name: string, text: string): Statement<R> {
  return { name, text }
}

const takeRole = `select pg_catalog.set_config('role', rolname::text, false) from pg_catalog.pg_roles
  where rolname = $1 and pg_catalog.pg_has_role(session_user, oid,
    case when pg_catalog.current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)`

const times: ReadonlySet<number> = new Set([pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.TIMESTAMP])
const asPrinted = (text: string): string => text

const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    times.has(oid) ? asPrinted : pg.types.getTypeParser(oid, format),
}

function openPool(options: StatementsOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(options.url, startupSettings(options.schemas, options.statementTimeout)),
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeout ?? 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: typeParsers,
  })
  // A connection that dies is dropped by the pool and its statement told; without listeners the process would end.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    // Queued before the first statement of the one who waits for the connection; where it fails, so will that one.
    if (options.role !== null) client.query(takeRole, [options.role]).catch(() => undefined)
  })
  return pool
}

async function checkOut(pool: pg.Pool, backoff: Backoff): Promise<pg.PoolClient> {
  if (pool.idleCount === 0 && backoff.waiting()) throw classifyConnecting(new Error('Recent connections failed.'))
  const full = pool.totalCount >= pool.options.max
  try {
    const client = await pool.connect()
    backoff.succeeded()
    return client
  } catch (error) {
    // Waiting in vain for a connection that others hold says nothing about the server.
    if (!full) backoff.failed()
    throw classifyConnecting(error)
  }
}

/** Connections that failed in a way that leaves their state unknown; they are not used again. */
type Spoilt = { spoilt: boolean }

function runOn(client: pg.PoolClient, state: Spoilt): RunStatement {
  return async <R extends object>({ name, text }: Statement<R>, values: readonly unknown[] = []) => {
    try {
      return (await client.query<R>({ name, text, values: [...values] })).rows
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || spoilsConnection(error)) state.spoilt = true
      throw classify(error, null)
    }
  }
}

async function plain(client: pg.PoolClient, state: Spoilt, text: string): Promise<string> {
  try {
    return (await client.query(text)).command
  } catch (error) {
    state.spoilt = true
    throw classify(error, null)
  }
}

async function inTransaction<T>(
  client: pg.PoolClient,
  state: Spoilt,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  await plain(client, state, 'begin')
  try {
    const value = await work(runOn(client, state))
    // Postgres answers a commit after an error with a rollback, and no error.
    const command = await plain(client, state, 'commit')
    if (command !== 'COMMIT') throw new Error('A failure inside a transaction was swallowed; nothing was kept.')
    return value
  } catch (error) {
    if (!state.spoilt) await plain(client, state, 'rollback').catch(() => undefined)
    throw error
  }
}

const attempts = 3

const isConflict = (error: unknown): boolean => error instanceof DatabaseFailure && error.kind === 'conflict'

/** What a conflict took back is done again, a few times. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= attempts || !isConflict(error)) throw error
    }
  }
}

/** Opens nothing yet: connections are made when they are first needed, and again whenever they were lost. */
export function openStatements(options: StatementsOptions): StatementsDatabase {
  const pool = openPool(options)
  const backoff = createBackoff(() => performance.now())
  const withClient = async <T>(work: (client: pg.PoolClient, state: Spoilt) => Promise<T>): Promise<T> => {
    const client = await checkOut(pool, backoff)
    const state = { spoilt: false }
    try {
      return await work(client, state)
    } finally {
      client.release(state.spoilt)
    }
  }
  return {
    run: (text, values) => again(() => withClient((client, state) => runOn(client, state)(text, values))),
    transaction: (work) => again(() => withClient((client, state) => inTransaction(client, state, work))),
    close: () => pool.end(),
  }
}
