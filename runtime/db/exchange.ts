import pg from 'pg'
import type { BoundStatement, Row } from '../contract/execution.ts'
import { DatabaseFailure } from './failures.ts'
import { createPreparedNames, maxWeight, weightOf, type PreparedNames } from './prepared-names.ts'
import { encode, type Outgoing, type Step } from './wire.ts'

/**
 * One request on one connection: everything in one write, one Sync, one implicit transaction (PostgreSQL manual 54.2.3
 * and 54.2.4, extended query and pipelining). pg does the connecting, the queue and the parsing of messages.
 */

export type ExchangeResult =
  /** The rows of each statement. */
  | { readonly kind: 'rows'; readonly rows: readonly (readonly Row[])[] }
  /** `completed`: how many statements ended before the error. `broken`: the connection is unusable or unknown. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly completed: number; readonly broken: boolean }

/** The request that a connection works on: what its messages are told to. */
interface Flight {
  readonly received: (bytes: number) => void
  readonly parseComplete: () => void
  readonly described: (columns: readonly Column[]) => void
  readonly row: (row: Row) => void
  readonly commandComplete: () => void
  readonly failed: (error: unknown) => void
  readonly readyForQuery: () => void
  readonly lost: () => void
}

/** A column as Postgres describes it: the number of its type is what a parser of its text is found by. */
export type Column = Pick<pg.FieldDef, 'name' | 'dataTypeID'>

/** Told the columns of each named statement that a connection prepares and that returns rows. */
export type Described = (name: string, columns: readonly Column[]) => void

/** A connection and what it has prepared. */
export interface Line {
  readonly client: pg.Client
  readonly prepared: PreparedNames
  /** Null: nobody wants to know, so Postgres is not asked. */
  readonly described: Described | null
  flight: Flight | null
}

/**
 * Bytes that may come back for one request. An answer is held in memory as a whole, several times over; one of half a gigabyte
 * is more than a string can hold, and would end the process from inside the parser of messages.
 */
const maxAnswer = 33_554_432

const answerTooLarge = (): DatabaseFailure =>
  new DatabaseFailure(
    'too-large',
    `The answer is larger than ${maxAnswer / 1_048_576} MiB; select less of it.`,
    null,
    null,
  )

/** pg tells its queries neither of Parse nor of the end, so the connection's own events are listened to. */
const createLine = (client: pg.Client, described: Described | null): Line => {
  const line: Line = { client, prepared: createPreparedNames(), described, flight: null }
  client.connection.stream.on('data', ({ length }: Buffer) => line.flight?.received(length))
  client.connection.on('parseComplete', () => line.flight?.parseComplete())
  client.connection.on('readyForQuery', () => line.flight?.readyForQuery())
  client.connection.on('end', () => line.flight?.lost())
  return line
}

/** The line of a connected client, made when it is first asked for. */
export const createLines = (described: Described | null): ((client: pg.Client) => Line) => {
  const lines = new WeakMap<pg.Client, Line>()
  return (client) => {
    const line = lines.get(client) ?? createLine(client, described)
    lines.set(client, line)
    return line
  }
}

const totalWeight = (statements: readonly BoundStatement[]): number =>
  statements.reduce((sum, statement) => sum + weightOf(statement), 0)

/**
 * The statements of a request, as many of them under their names as one connection may hold. What is too much goes without a
 * name: it is parsed for this one use, and its memory is given back.
 */
const namedWithin = (statements: readonly BoundStatement[]): readonly BoundStatement[] => {
  if (totalWeight(statements) <= maxWeight) return statements
  const names = new Set<string>()
  let total = 0
  return statements.map((statement) => {
    const { name } = statement
    const weight = names.has(name) ? 0 : weightOf(statement)
    if (total + weight > maxWeight) return { ...statement, name: '' }
    names.add(name)
    total += weight
    return statement
  })
}

/** Each statement, and whether it has to be parsed right before it. */
const stepsOf = (prepared: PreparedNames, statements: readonly BoundStatement[]): readonly Step[] => {
  const parsed = new Set<string>()
  return namedWithin(statements).map((statement) => {
    const { name } = statement
    const parse = name === '' || !(prepared.use(name) || parsed.has(name))
    if (parse) parsed.add(name)
    return { statement, parse }
  })
}

const outgoing = ({ prepared, described }: Line, statements: readonly BoundStatement[]): Outgoing => {
  const steps = stepsOf(prepared, statements)
  const added = steps.flatMap(({ statement, parse }) => (parse && statement.name !== '' ? [statement] : []))
  const needed = () => new Set(steps.map(({ statement }) => statement.name))
  const closed = added.length === 0 ? [] : prepared.evict(totalWeight(added), needed())
  return { closed, steps, describe: described !== null }
}

const createFlight = (line: Line, { steps }: Outgoing, settle: (result: ExchangeResult) => void): Flight => {
  const parsed = steps.flatMap(({ statement, parse }) => (parse ? [statement] : [])).values()
  const rows: Row[][] = steps.map(() => [])
  let latest = ''
  let completed = 0
  let bytes = 0
  let failure: { readonly error: unknown } | null = null
  const fail = (error: unknown, broken: boolean): void => settle({ kind: 'failed', error, completed, broken })
  return {
    received: (length) => {
      bytes += length
      // The connection is closed with its request under way, so nothing was kept.
      if (bytes > maxAnswer) fail(answerTooLarge(), true)
    },
    // Parse is not transactional: what was acknowledged stays prepared, whatever fails later.
    parseComplete: () => {
      const { value } = parsed.next()
      if (value !== undefined && value.name !== '') line.prepared.add(value)
      latest = value?.name ?? ''
    },
    // Right after the Parse of the statement that it is about, or never.
    described: (columns) => line.described?.(latest, columns),
    row: (row) => void rows[completed]?.push(row),
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
      else settle({ kind: 'rows', rows })
    },
    lost: () => fail(failure?.error ?? new Error('The connection ended during a request.'), true),
  }
}

/** A query in the form that pg takes: it writes itself and is handed the messages that answer it. */
const submittable = (flight: Flight, message: Buffer) => ({
  submit: (connection: pg.Connection) => void connection.stream.write(message),
  handleRowDescription: ({ fields }: { readonly fields: readonly Column[] }) => flight.described(fields),
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
