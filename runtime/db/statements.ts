import pg from 'pg'
import type { BoundStatement, Row } from '../contract/execution.ts'
import { classify, spoilsConnection } from './classify.ts'
import { runStatements, type Line } from './exchange.ts'
import { DatabaseFailure } from './failures.ts'
import { createLines } from './lines.ts'
import type { Column } from './messages.ts'
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

/** How the rows of a statement become objects. */
type Decode = (row: Row) => object

function createDecode(columns: readonly Column[]): Decode {
  const fields = columns.map(({ name, dataTypeID }) => {
    const parse = times.has(dataTypeID) ? asPrinted : pg.types.getTypeParser(dataTypeID, 'text')
    return { name, parse: parse as (text: string) => unknown }
  })
  return (row) => {
    const object: Record<string, unknown> = {}
    fields.forEach(({ name, parse }, index) => {
      const text = row[index] ?? null
      object[name] = text === null ? null : parse(text)
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

/** A connection that is lent to somebody. */
interface Lent {
  readonly line: Line
  readonly decodes: ReadonlyMap<string, Decode>
  /** A statement failed. */
  failed: boolean
  /** Something failed in a way that leaves the connection's state unknown: it is not used again. */
  spoilt: boolean
}

/** Runs a statement in one round trip; what stands in `before` goes along with it, once. */
async function runAfter<R extends object>(
  lent: Lent,
  before: readonly BoundStatement[],
  { name, text }: Statement<R>,
  values: readonly unknown[] = [],
): Promise<readonly R[]> {
  const result = await runStatements(lent.line, [...before, { name, text, values: values.map(textOf) }])
  if (result.kind === 'rows') {
    const decode = lent.decodes.get(name)
    return decode === undefined ? [] : ((result.rows.at(-1) ?? []).map(decode) as R[])
  }
  const { error, broken } = result
  lent.failed = true
  if (broken || spoilsConnection(error)) lent.spoilt = true
  throw classify(error, null)
}

const begin: BoundStatement = { name: 'catalograph.begin', text: 'begin', values: [] }
const commit = statement('catalograph.commit', 'commit')
const rollback = statement('catalograph.rollback', 'rollback')

async function inTransaction<T>(lent: Lent, work: (run: RunStatement) => Promise<T>): Promise<T> {
  let before: readonly BoundStatement[] = [begin]
  const run: RunStatement = (statement, values) => {
    const first = before
    before = []
    return runAfter(lent, first, statement, values)
  }
  try {
    const value = await work(run)
    if (before.length > 0) return value
    // Postgres would answer the commit with a rollback, and no error.
    if (lent.failed) throw new Error('A failure inside a transaction was swallowed; nothing was kept.')
    await runAfter(lent, [], commit)
    return value
  } catch (error) {
    if (!lent.spoilt && before.length === 0) await runAfter(lent, [], rollback).catch(() => (lent.spoilt = true))
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
  const decodes = new Map<string, Decode>()
  const { role } = options
  const lines = createLines({
    config: connectionConfig(options.url, startupSettings(options.schemas, options.statementTimeout)),
    max: options.poolSize,
    connectTimeout: options.connectTimeout ?? 5_000,
    described: (name, columns) => void decodes.set(name, createDecode(columns)),
    ...(role !== null && { prepare: (client) => client.query(takeRole, [role]) }),
  })
  const withLent = async <T>(work: (lent: Lent) => Promise<T>): Promise<T> => {
    const lent: Lent = { line: await lines.borrow(), decodes, failed: false, spoilt: false }
    try {
      return await work(lent)
    } finally {
      lines.giveBack(lent.line, lent.spoilt)
    }
  }
  return {
    run: (statement, values) => again(() => withLent((lent) => runAfter(lent, [], statement, values))),
    transaction: (work) => again(() => withLent((lent) => inTransaction(lent, work))),
    close: lines.close,
  }
}
