import pg from 'pg'
import type { BoundStatement, PreparedText, ResultRow } from '../../contract/execution.ts'
import { createPlaces } from '../../lib/sharing/places.ts'
import { classify, isNameLost, invalidatesConnection } from '../failures/classify.ts'
import { runStatements, type Connection } from '../wire/exchange.ts'
import { DatabaseFailure } from '../failures/failures.ts'
import { acquireConnection, closeConnections, createConnectionPool, releaseConnection } from './connections.ts'
import type { ResultColumn } from '../wire/messages.ts'
import { serverOf } from '../connect/server.ts'
import { ownSettings } from '../connect/startup.ts'
import type { SentStatement } from '../wire/wire.ts'
import { openingFor, takeRole } from './own-opening.ts'
import { inTransaction, type Queued, type SendQueued } from './transactions.ts'
import type { PoolerSetting } from '../../settings/keys.ts'

/**
 * Our own statements, one by one or several in a transaction: for services that keep their state in tables. Requests
 * of the data API run as the caller's role and go another way, see pool.ts.
 */

declare const rowOf: unique symbol

/** A statement of the source text: prepared once a connection under its name. `R` is the type of its rows. */
export interface TypedStatement<R extends object> {
  readonly name: string
  readonly text: string
  readonly [rowOf]?: R
}

/** Runs a statement. Times come as Postgres prints them, with microseconds. Rejects with DatabaseFailure. */
export type RunStatement = <R extends object>(
  statement: TypedStatement<R>,
  values?: readonly unknown[],
) => Promise<readonly R[]>

export interface StatementsDatabase {
  /** One statement, which is a transaction of its own. */
  readonly run: RunStatement
  /**
   * Several statements that commit together or roll back when `work` rejects. Work that met a deadlock or a
   * serialization failure is repeated, so it must have no other effect than its statements. Statements that are started
   * at once (Promise.all) travel in one round trip and run in that order, each seeing the effects of those before; when
   * one fails, all fail.
   */
  readonly transaction: <T>(work: (run: RunStatement) => Promise<T>) => Promise<T>
  /**
   * Several statements that commit together, in one round trip. `ask` starts all of them before it returns; their rows
   * come once everything is committed. It may be called again, as the work of a transaction may.
   */
  readonly together: <T>(ask: (run: RunStatement) => Promise<T>) => Promise<T>
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
  /** Left out: it is found out. */
  readonly pooler?: PoolerSetting
}

/** Names a statement. The name must be its own in the whole program. */
export function statement<R extends object>(name: string, text: string): TypedStatement<R> {
  return { name, text }
}

const times: ReadonlySet<number> = new Set([pg.types.builtins.TIMESTAMPTZ, pg.types.builtins.TIMESTAMP])
const asPrinted = (text: string): string => text

type Decode = (row: ResultRow) => object

function createDecode(columns: readonly ResultColumn[]): Decode {
  const fields = columns.map(({ name, dataTypeID }) => {
    const parse = times.has(dataTypeID) ? asPrinted : pg.types.getTypeParser(dataTypeID, 'text')
    return { name, parse: parse as (text: string) => unknown }
  })
  return (row) => {
    const object: Record<string, unknown> = {}
    fields.forEach(({ name, parse }, index) => {
      const cell = row[index] ?? null
      object[name] = cell === null ? null : parse(cell.toString())
    })
    return object
  }
}

/** A parameter in text format (manual 8.4.1 and 8.15.2 for bytes and arrays); objects are JSON. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`
  if (Array.isArray(value)) return `{${value.map(elementOf).join()}}`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function elementOf(value: unknown): string {
  const text = textOf(value)
  return text === null ? 'null' : `"${text.replace(/["\\]/g, '\\$&')}"`
}

interface AcquiredConnection {
  readonly connection: Connection
  /** Statements before those of a transaction, in its first round trip. */
  readonly opening: readonly SentStatement[]
  readonly decodes: ReadonlyMap<string, Decode>
  failed: boolean
  /** A failure left the state of the connection unknown. */
  mustDestroy: boolean
}

/** Runs statements in one round trip, after others of which no rows are wanted; gives the rows of each. */
async function runTogether(
  acquired: AcquiredConnection,
  bound: readonly BoundStatement[],
  before: readonly SentStatement[] = [],
): Promise<readonly (readonly object[])[]> {
  const result = await runStatements(acquired.connection, [...before, ...bound])
  if (result.kind === 'rows') {
    const rows = result.rows.slice(before.length)
    return bound.map(({ name }, index) => decodeRows(acquired, name, rows[index] ?? []))
  }
  const { error, broken } = result
  acquired.failed = true
  if (broken || invalidatesConnection(error)) acquired.mustDestroy = true
  throw classify(error, null)
}

function decodeRows({ decodes }: AcquiredConnection, name: string, rows: readonly ResultRow[]): readonly object[] {
  const decode = decodes.get(name)
  return decode === undefined ? [] : rows.map(decode)
}

const bind = ({ name, text }: PreparedText, values: readonly unknown[] = []): BoundStatement => ({
  name,
  text,
  values: values.map(textOf),
})

async function runAlone<R extends object>(
  acquired: AcquiredConnection,
  statement: TypedStatement<R>,
  values?: readonly unknown[],
): Promise<readonly R[]> {
  const [rows = []] = await runTogether(acquired, [bind(statement, values)], acquired.opening)
  return rows as readonly R[]
}

/** Sends the queue in one round trip. It does not reject: each queued statement settles. */
const senderOf =
  (acquired: AcquiredConnection): SendQueued =>
  async (queue, before) => {
    try {
      const rows = await runTogether(
        acquired,
        queue.map(({ statement: asked, values }) => bind(asked, values)),
        before,
      )
      queue.forEach(({ resolve }, index) => resolve(rows[index] ?? []))
    } catch (error) {
      for (const { reject } of queue) reject(error)
    }
  }

/** One exchange is a transaction of its own (manual 54.2.4), so there is neither a begin nor a commit. */
async function inOneExchange<T>(acquired: AcquiredConnection, ask: (run: RunStatement) => Promise<T>): Promise<T> {
  const queue: Queued[] = []
  let sent = false
  const run = (asked: TypedStatement<object>, values?: readonly unknown[]): Promise<readonly object[]> =>
    new Promise((resolve, reject) => {
      if (sent) throw new Error('The statements were sent already.')
      queue.push({ statement: asked, values, resolve, reject })
    })
  const answer = ask(run as RunStatement)
  sent = true
  await senderOf(acquired)(queue, acquired.opening)
  const value = await answer
  if (acquired.failed) throw new Error('A failure of statements that commit together was swallowed; nothing was kept.')
  return value
}

const isRolledBack = (error: unknown): boolean =>
  error instanceof DatabaseFailure && (error.kind === 'conflict' || isNameLost(error.cause))

const attempts = 3

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= attempts || !isRolledBack(error)) throw error
    }
  }
}

/** Opens nothing yet: connections are made when they are first needed, and again whenever they were lost. */
export function openStatements(options: StatementsOptions): StatementsDatabase {
  const decodes = new Map<string, Decode>()
  const { role } = options
  const server = serverOf(options.url, ownSettings(options.schemas, options.statementTimeout))
  const opening = openingFor(server.settings, role)
  const connections = createConnectionPool({
    server,
    pooler: options.pooler ?? 'auto',
    places: createPlaces({ size: options.poolSize }),
    connectTimeout: options.connectTimeout ?? 5_000,
    described: (name, columns) => void decodes.set(name, createDecode(columns)),
    ...(role !== null && { prepare: (client) => client.query(takeRole(false), [role]) }),
  })
  const withConnection = async <T>(work: (acquired: AcquiredConnection) => Promise<T>): Promise<T> => {
    const connection = await acquireConnection(connections)
    const acquired: AcquiredConnection = {
      connection,
      opening: connection.pooled === null ? [] : opening,
      decodes,
      failed: false,
      mustDestroy: false,
    }
    try {
      return await work(acquired)
    } finally {
      releaseConnection(connections, acquired.connection, acquired.mustDestroy)
    }
  }
  return {
    run: (statement, values) => withRetries(() => withConnection((acquired) => runAlone(acquired, statement, values))),
    transaction: (work) =>
      withRetries(() =>
        withConnection((acquired) => {
          const transaction = {
            acquired,
            send: senderOf(acquired),
            control: (one: SentStatement) => runTogether(acquired, [], [one]),
          }
          return inTransaction(transaction, (run) => work(run as RunStatement))
        }),
      ),
    together: (ask) => withRetries(() => withConnection((acquired) => inOneExchange(acquired, ask))),
    close: () => closeConnections(connections),
  }
}
