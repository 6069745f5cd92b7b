import pg from 'pg'
import type { BoundStatement, Row } from '../contract/execution.ts'
import { createPreparedNames, type PreparedNames } from './prepared-names.ts'

/**
 * One request on one connection: everything in one write, one Sync, one implicit transaction (PostgreSQL manual 54.2.3
 * and 54.2.4, extended query and pipelining). pg does the connecting, the queue and the parsing of messages.
 */

export type ExchangeResult =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  /** `completed`: how many statements ended before the error. `broken`: the connection is unusable or unknown. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly completed: number; readonly broken: boolean }

/** What is in flight on a connection. */
interface Flight {
  readonly parseComplete: () => void
  readonly readyForQuery: () => void
  readonly lost: () => void
}

/** A connection and what it has prepared. */
export interface Line {
  readonly client: pg.Client
  readonly prepared: PreparedNames
  flight: Flight | null
}

const preparedCap = 200

/** Makes a line of a connected client; at most once per client. pg tells its queries neither of Parse nor of the end. */
export const createLine = (client: pg.Client): Line => {
  const line: Line = { client, prepared: createPreparedNames(preparedCap), flight: null }
  client.connection.on('parseComplete', () => line.flight?.parseComplete())
  client.connection.on('readyForQuery', () => line.flight?.readyForQuery())
  client.connection.on('end', () => line.flight?.lost())
  return line
}

/** Statements that must be parsed first, each name once. */
const unprepared = (prepared: PreparedNames, statements: readonly BoundStatement[]): readonly BoundStatement[] => {
  const seen = new Set<string>()
  return statements.filter(({ name }) => !prepared.has(name) && !seen.has(name) && seen.add(name).size > 0)
}

const evicted = (line: Line, fresh: readonly BoundStatement[], all: readonly BoundStatement[]): readonly string[] =>
  fresh.length === 0 ? [] : line.prepared.evict(fresh.length, new Set(all.map(({ name }) => name)))

/** Closes stand first: an error skips whatever follows it up to Sync, and these names are forgotten already. */
const write = (
  connection: pg.Connection,
  closed: readonly string[],
  fresh: readonly BoundStatement[],
  statements: readonly BoundStatement[],
): void => {
  const unparsed = new Map(fresh.map((statement) => [statement.name, statement.text]))
  connection.stream.cork()
  for (const name of closed) connection.close({ type: 'S', name }, true)
  for (const { name, values } of statements) {
    const text = unparsed.get(name)
    if (text !== undefined) connection.parse({ name, text, types: [] }, true)
    unparsed.delete(name)
    connection.bind({ statement: name, values: values as (string | null)[] }, true)
    connection.execute(null, true)
  }
  connection.sync()
  connection.stream.uncork()
}

/**
 * Runs the statements in one round trip. Never rejects: a failure is a result, told only once Postgres is ready for the
 * next request or the connection is gone, so that no answer can reach another request. Commit happens before
 * ReadyForQuery and may itself fail (deferred constraints), hence rows count only then.
 */
export const runStatements = (line: Line, statements: readonly BoundStatement[]): Promise<ExchangeResult> =>
  new Promise((resolve) => {
    const fresh = unprepared(line.prepared, statements)
    const closed = evicted(line, fresh, statements)
    const rows: Row[] = []
    let completed = 0
    let acknowledged = 0
    let failure: { readonly error: unknown } | null = null

    const settle = (result: ExchangeResult): void => {
      line.flight = null
      resolve(result)
    }
    const fail = (error: unknown, broken: boolean): void => settle({ kind: 'failed', error, completed, broken })

    // Parse is not transactional: what was acknowledged stays prepared, whatever fails later.
    const parseComplete = (): void => {
      const statement = fresh[acknowledged++]
      if (statement !== undefined) line.prepared.add(statement.name)
    }
    const readyForQuery = (): void => {
      if (failure !== null) fail(failure.error, false)
      else settle({ kind: 'rows', rows: statements.map((_, index) => rows[index] ?? []) })
    }
    const lost = (): void => fail(failure?.error ?? new Error('The connection ended during a request.'), true)
    const complete = (): void => {
      completed += 1
    }

    line.flight = { parseComplete, readyForQuery, lost }
    for (const { name } of statements) if (line.prepared.has(name)) line.prepared.touch(name)
    line.client.query({
      submit: (connection: pg.Connection) => write(connection, closed, fresh, statements),
      handleRowDescription: () => undefined,
      handleDataRow: (message: { readonly fields: Row }) => {
        rows[completed] ??= message.fields
      },
      handleCommandComplete: complete,
      handleEmptyQuery: complete,
      // The connection's own event tells it, after an error too, where pg would not.
      handleReadyForQuery: () => undefined,
      handleError: (error: unknown) => {
        failure ??= { error }
        // Anything but an ErrorResponse means that the socket is dead: nothing more will come.
        if (!(error instanceof pg.DatabaseError) && line.flight !== null) fail(error, true)
      },
    })
  })
