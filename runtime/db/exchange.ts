import pg from 'pg'
import type { BoundStatement, Row } from '../contract/execution.ts'
import { createPreparedNames, type PreparedNames } from './prepared-names.ts'
import { encode, type Outgoing } from './wire.ts'

/**
 * One request on one connection: everything in one write, one Sync, one implicit transaction (PostgreSQL manual 54.2.3
 * and 54.2.4, extended query and pipelining). pg does the connecting, the queue and the parsing of messages.
 */

export type ExchangeResult =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  /** `completed`: how many statements ended before the error. `broken`: the connection is unusable or unknown. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly completed: number; readonly broken: boolean }

/** The request that a connection works on: what its messages are told to. */
interface Flight {
  readonly parseComplete: () => void
  readonly row: (row: Row) => void
  readonly commandComplete: () => void
  readonly failed: (error: unknown) => void
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

/**
 * Makes a line of a connected client; at most once per client. pg tells its queries neither of Parse nor of the end.
 */
export const createLine = (client: pg.Client): Line => {
  const line: Line = { client, prepared: createPreparedNames(preparedCap), flight: null }
  client.connection.on('parseComplete', () => line.flight?.parseComplete())
  client.connection.on('readyForQuery', () => line.flight?.readyForQuery())
  client.connection.on('end', () => line.flight?.lost())
  return line
}

/** Statements that must be parsed first, by name. */
const unprepared = (prepared: PreparedNames, statements: readonly BoundStatement[]): ReadonlyMap<string, string> => {
  const unparsed = new Map<string, string>()
  for (const { name, text } of statements) {
    if (prepared.has(name)) prepared.touch(name)
    else unparsed.set(name, text)
  }
  return unparsed
}

const evicted = (line: Line, incoming: number, statements: readonly BoundStatement[]): readonly string[] =>
  incoming === 0 ? [] : line.prepared.evict(incoming, new Set(statements.map(({ name }) => name)))

const outgoing = (line: Line, statements: readonly BoundStatement[]): Outgoing => {
  const unparsed = unprepared(line.prepared, statements)
  return { closed: evicted(line, unparsed.size, statements), unparsed, statements }
}

const createFlight = (
  line: Line,
  { unparsed, statements }: Outgoing,
  settle: (result: ExchangeResult) => void,
): Flight => {
  const names = unparsed.keys()
  const rows: Row[] = []
  let completed = 0
  let failure: { readonly error: unknown } | null = null
  const fail = (error: unknown, broken: boolean): void => settle({ kind: 'failed', error, completed, broken })
  return {
    // Parse is not transactional: what was acknowledged stays prepared, whatever fails later.
    parseComplete: () => {
      const { value } = names.next()
      if (value !== undefined) line.prepared.add(value)
    },
    row: (row) => {
      rows[completed] ??= row
    },
    commandComplete: () => {
      completed += 1
    },
    failed: (error) => {
      failure ??= { error }
      // Anything but an ErrorResponse means that the socket is dead: nothing more will come.
      if (!(error instanceof pg.DatabaseError)) fail(error, true)
    },
    readyForQuery: () => {
      if (failure !== null) fail(failure.error, false)
      else settle({ kind: 'rows', rows: statements.map((_, index) => rows[index] ?? []) })
    },
    lost: () => fail(failure?.error ?? new Error('The connection ended during a request.'), true),
  }
}

/** A query in the form that pg takes: it writes itself and is handed the messages that answer it. */
const submittable = (flight: Flight, message: Buffer) => ({
  submit: (connection: pg.Connection) => void connection.stream.write(message),
  handleRowDescription: () => undefined,
  handleDataRow: ({ fields }: { readonly fields: Row }) => flight.row(fields),
  handleCommandComplete: flight.commandComplete,
  handleEmptyQuery: flight.commandComplete,
  // The connection's own event tells it, after an error too, where pg would not.
  handleReadyForQuery: () => undefined,
  handleError: flight.failed,
})

/**
 * Runs the statements in one round trip. A failure is a result, told only once Postgres is ready for the next request
 * or the connection is gone, so that no answer can reach another request. The commit comes before ReadyForQuery and
 * may itself fail (deferred constraints), hence rows count only then.
 */
export const runStatements = (line: Line, statements: readonly BoundStatement[]): Promise<ExchangeResult> =>
  new Promise((resolve) => {
    const sent = outgoing(line, statements)
    const flight = createFlight(line, sent, (result) => {
      line.flight = null
      resolve(result)
    })
    line.flight = flight
    line.client.query(submittable(flight, encode(sent)))
  })
