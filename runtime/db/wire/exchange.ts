import type pg from 'pg'
import type { PreparedText, ResultRow } from '../../contract/execution.ts'
import { isNameLost } from '../failures/classify.ts'
import { DatabaseFailure } from '../failures/failures.ts'
import {
  createMessageReader,
  messageTypes,
  readColumns,
  readError,
  readRow,
  type ResultColumn,
  readWith,
} from './messages.ts'
import { encode, withoutName, type Outgoing, type SentStatement } from './wire.ts'
import type { SettingPairs } from '../connect/startup.ts'

/**
 * One request on one connection: everything in one write, one Sync, one implicit transaction (PostgreSQL manual 54.2.3
 * and 54.2.4, extended query and pipelining). pg does the connecting.
 */

export type ExchangeResult =
  | { readonly kind: 'rows'; readonly rows: readonly (readonly ResultRow[])[] }
  /**
   * `begun`: the number of statements that were planned and had their parameters read, `completed`: the number that
   * ended before the error. `broken`: the connection is unusable or in an unknown state.
   */
  | {
      readonly kind: 'failed'
      readonly error: unknown
      readonly begun: number
      readonly completed: number
      readonly broken: boolean
    }

/** Receives the columns of each named statement that a connection prepares and that returns rows. */
export type Described = (name: string, columns: readonly ResultColumn[]) => void

interface Parsing {
  readonly statement: PreparedText
  readonly named: boolean
}

/** The request in progress on a connection, and its results so far. */
interface InFlight {
  /** The statements whose Parse Postgres has yet to acknowledge, in order. */
  readonly parsing: Parsing[]
  /** The name of the statement that was parsed last. */
  parsed: string
  readonly rows: ResultRow[][]
  begun: number
  completed: number
  bytes: number
  /** The bytes that it may receive without asking for more. */
  allowed: number
  readonly grow: Grow | null
  failure: { readonly error: unknown } | null
  readonly settle: Settle
}

/** Requests memory for an answer of `bytes` in total. False: not yet; `decided` then reports once. */
export type Grow = (bytes: number, decided: (granted: boolean) => void) => boolean

/** A pooler, behind which each transaction may have another backend. */
export interface Pooled {
  /** The settings that each transaction sets. */
  readonly settings: SettingPairs
  /** Whether prepared names are found again. */
  readonly keepsNames: () => boolean
  /** Called when a name was not found. */
  readonly lostName: () => void
}

export interface Connection {
  readonly client: pg.Client
  /** Null: it has a backend of its own. */
  readonly pooled: Pooled | null
  readonly prepared: PreparedNames
  /** Null: the columns are not needed, so Postgres does not describe them. */
  readonly described: Described | null
  /** The buffer of its requests, reused: Postgres has read an answered request completely. */
  readonly memory: Buffer
  inFlight: InFlight | null
}

/**
 * The maximum size of an answer. It is held in memory as a whole, several times over; half a gigabyte exceeds the
 * longest string, and would end the process inside the parser of messages.
 */
const maxAnswer = 33_554_432

export const outOfAnswerMemory = (): DatabaseFailure =>
  new DatabaseFailure('overloaded', 'The server is short of memory for answers; try again shortly.', null, null)

const answerTooLarge = (): DatabaseFailure =>
  new DatabaseFailure(
    'too-large',
    `The answer is larger than ${maxAnswer / 1_048_576} MiB; select less of it.`,
    null,
    null,
  )

/** Ends the request that the connection works on; later messages of it are dropped. */
const settleExchange = (connection: Connection, result: ExchangeResult): void => {
  const { inFlight: flight } = connection
  connection.inFlight = null
  flight?.settle(result)
}

const fail = (connection: Connection, flight: InFlight, error: unknown, broken: boolean): void => {
  const { begun, completed, parsing } = flight
  if (connection.pooled !== null)
    connection.prepared.doubt(parsing.filter(({ named }) => named).map(({ statement }) => statement.name))
  // Its remaining messages are not awaited.
  if (broken) connection.client.connection.stream.destroy()
  if (isNameLost(error)) connection.pooled?.lostName()
  settleExchange(connection, { kind: 'failed', error, begun, completed, broken })
}

const endedEarly = 'The database was ready for the next request before it had answered this one.'

type Receive = (connection: Connection, flight: InFlight, bytes: Buffer, start: number) => void

const commandComplete: Receive = (_line, flight) => {
  flight.completed += 1
}

/** The meaning of each message for the request; types that are missing are ignored. */
const receive: Readonly<Record<number, Receive>> = {
  // Parse is not transactional: an acknowledged statement stays prepared even if a later one fails.
  [messageTypes.parseComplete]: (connection, flight) => {
    const parsing = flight.parsing.shift()
    if (parsing?.named === true) connection.prepared.add(parsing.statement)
    flight.parsed = parsing?.statement.name ?? ''
  },
  [messageTypes.bindComplete]: (_line, flight) => {
    flight.begun += 1
  },
  // It follows the Parse of its statement immediately, or never.
  [messageTypes.rowDescription]: ({ described }, { parsed }, bytes, start) =>
    described?.(parsed, readColumns(bytes, start)),
  [messageTypes.dataRow]: (_line, { rows, completed }, bytes, start) =>
    void rows[completed]?.push(readRow(bytes, start)),
  [messageTypes.commandComplete]: commandComplete,
  [messageTypes.emptyQueryResponse]: commandComplete,
  [messageTypes.errorResponse]: (_line, flight, bytes, start) => {
    flight.failure ??= { error: readError(bytes, start) }
  },
  [messageTypes.readyForQuery]: (connection, flight) => {
    if (flight.failure !== null) fail(connection, flight, flight.failure.error, false)
    // A pooler that loses its server may send one message too many, which belongs to another request.
    else if (flight.completed < flight.rows.length) fail(connection, flight, new Error(endedEarly), true)
    else settleExchange(connection, { kind: 'rows', rows: flight.rows })
  },
}

/** Enough for almost every request. */
const memorySize = 16_384

/** Answers up to this size are not counted: almost all are shorter. */
const uncounted = 65_536

/**
 * Compares the bytes that arrived and are announced with the room of the answer. If there is not enough room, reading
 * pauses until there is; an answer that is given up may be read again, because only readers ask for limited room.
 */
const measure = (connection: Connection, flight: InFlight, missing: number): void => {
  const bytes = flight.bytes + missing
  // The connection is closed during its request, so nothing was committed.
  if (bytes > maxAnswer) return fail(connection, flight, answerTooLarge(), true)
  if (bytes <= flight.allowed || flight.grow === null) return
  flight.allowed = bytes
  const { stream } = connection.client.connection
  const decided = (granted: boolean): void => {
    if (connection.inFlight !== flight) return
    if (granted) stream.resume()
    else fail(connection, flight, outOfAnswerMemory(), true)
  }
  if (!flight.grow(bytes, decided)) stream.pause()
}

/** Takes over a connected client: from here on everything that its server sends is read here, and pg only closes it. */
export const createConnection = (
  client: pg.Client,
  described: Described | null,
  pooled: Pooled | null = null,
): Connection => {
  const memory = Buffer.allocUnsafeSlow(memorySize)
  const connection: Connection = { client, pooled, prepared: createPreparedNames(), described, memory, inFlight: null }
  const { read, missing } = createMessageReader((type, bytes, start) => {
    if (connection.inFlight !== null) receive[type]?.(connection, connection.inFlight, bytes, start)
  })
  const lost = (error: unknown): void => {
    if (connection.inFlight !== null)
      fail(connection, connection.inFlight, connection.inFlight.failure?.error ?? error, true)
  }
  client.on('error', lost)
  client.connection.on('end', () => lost(new Error('The connection ended during a request.')))
  readWith(client.connection.stream, (bytes) => {
    if (connection.inFlight !== null) connection.inFlight.bytes += bytes.length
    read(bytes)
    if (connection.inFlight !== null) measure(connection, connection.inFlight, missing())
    return false
  })
  return connection
}

const totalWeight = (statements: readonly PreparedText[]): number =>
  statements.reduce((sum, statement) => sum + weightOf(statement), 0)

/**
 * Statements of a request, named as far as one connection may hold them. The rest goes without names: Postgres parses
 * it for this use and frees its memory.
 */
const namedWithin = (statements: readonly SentStatement[]): readonly SentStatement[] => {
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

const unprepared = (prepared: PreparedNames, statements: readonly SentStatement[]): ReadonlySet<number> => {
  const names = new Set<string>()
  const places = new Set<number>()
  statements.forEach(({ name }, index) => {
    if (name !== '' && (prepared.use(name) || names.has(name))) return
    names.add(name)
    places.add(index)
  })
  return places
}

const preparing = (connection: Connection, given: readonly SentStatement[]): Outgoing => {
  const { prepared, described, pooled } = connection
  if (pooled?.keepsNames() === false) return unnamed(given, described !== null)
  const statements = namedWithin(given)
  const parsed = unprepared(prepared, statements)
  const added = statements.filter(({ name }, index) => name !== '' && parsed.has(index))
  const needed = () => new Set(statements.map(({ name }) => name))
  const evicted = added.length === 0 ? [] : prepared.evict(totalWeight(added), needed())
  const closed = [
    ...evicted,
    ...statements.flatMap((statement) => ('closes' in statement ? (statement.closes ?? []) : [])),
  ]
  return { closed, statements, parsed, describe: described !== null }
}

const unnamed = (statements: readonly SentStatement[], describe: boolean): Outgoing => ({
  closed: [],
  statements: statements.map(withoutName),
  parsed: new Set(statements.keys()),
  describe,
})

const nothingParsed: ReadonlySet<number> = new Set()

/**
 * Almost every request finds all of its statements prepared; their weight was checked when they were prepared. If a
 * pooler has lost one name, the names of all connections behind it are in doubt.
 */
const outgoing = (connection: Connection, statements: readonly SentStatement[]): Outgoing =>
  connection.pooled?.keepsNames() !== false && statements.every(({ name }) => connection.prepared.use(name))
    ? { closed: [], statements, parsed: nothingParsed, describe: false }
    : preparing(connection, statements)

const parsingOf = (given: readonly SentStatement[], { statements, parsed }: Outgoing): Parsing[] =>
  given
    .map((statement, index) => ({ statement, named: statements[index]?.name !== '' }))
    .filter((_, index) => parsed.has(index))

/** Called once with the result of a request. It must not throw. */
export type Settle = (result: ExchangeResult) => void

/**
 * Runs the statements in one round trip. A failure is a result; it is reported only once Postgres is ready for the next
 * request or the connection is closed, so that no answer can reach another request. The commit comes before
 * ReadyForQuery and may fail (deferred constraints), hence rows count only after it.
 */
export const sendStatements = (
  connection: Connection,
  statements: readonly SentStatement[],
  settle: Settle,
  grow: Grow | null = null,
): void => {
  const sent = outgoing(connection, statements)
  const bytes = encode(connection.memory, sent)
  const flight: InFlight = {
    parsing: sent.parsed.size === 0 ? [] : parsingOf(statements, sent),
    parsed: '',
    rows: sent.statements.map(() => []),
    begun: 0,
    completed: 0,
    bytes: 0,
    allowed: uncounted,
    grow,
    failure: null,
    settle,
  }
  connection.inFlight = flight
  const { stream } = connection.client.connection
  // The stream ended between two requests: no event would report it to this one.
  if (stream.destroyed) fail(connection, flight, new Error('The connection ended before a request.'), true)
  else stream.write(bytes)
}

/** The same as a promise, which never rejects because of the database. */
export const runStatements = (connection: Connection, statements: readonly SentStatement[]): Promise<ExchangeResult> =>
  new Promise((resolve) => sendStatements(connection, statements, resolve))

/**
 * The statements that one connection has prepared. The memory of the backend for each grows with its text: 25 to 130 kB
 * for common ones (engine.md 2), hence a limit on the texts' weight.
 */
interface PreparedNames {
  readonly add: (statement: PreparedText) => void
  /** Whether a statement is prepared; it is about to be used. */
  readonly use: (name: string) => boolean
  /**
   * Receives names whose preparation failed. PgBouncer registers a name when it sees it coming, and ends a connection
   * that prepares it again before it is closed.
   */
  readonly doubt: (names: readonly string[]) => void
  /**
   * Removes and returns the names to close first: names in doubt, and the oldest, so that statements of the weight
   * `incoming` fit in; never one of `needed`, and those used since the last eviction only after all others.
   */
  readonly evict: (incoming: number, needed: ReadonlySet<string>) => readonly string[]
}

/** The weight limit of one connection: some 200 statements of common length. */
const maxWeight = 1_000_000

/** In characters; a short statement has fixed costs. */
const weightOf = ({ text }: PreparedText): number => Math.max(text.length, 5_000)

const createPreparedNames = (): PreparedNames => {
  // A Map iterates in order of insertion; lib/caches.ts explains the marks. That cache protects no entries and reports no
  // evictions.
  const names = new Map<string, { readonly weight: number; used: boolean }>()
  const doubted = new Set<string>()
  let total = 0
  const remove = (name: string): void => {
    total -= names.get(name)?.weight ?? 0
    names.delete(name)
  }
  const put = (name: string, weight: number): void => {
    remove(name)
    names.set(name, { weight, used: false })
    total += weight
  }
  const evict: PreparedNames['evict'] = (incoming, needed) => {
    const evicted = [...doubted]
    doubted.clear()
    for (const [name, { weight, used }] of names) {
      if (total + incoming <= maxWeight) break
      if (needed.has(name)) continue
      if (used) put(name, weight)
      else {
        remove(name)
        evicted.push(name)
      }
    }
    return evicted
  }
  return {
    add: (statement) => put(statement.name, weightOf(statement)),
    use: (name) => {
      const found = names.get(name)
      if (found !== undefined) found.used = true
      return found !== undefined
    },
    doubt: (names) => names.forEach((name) => doubted.add(name)),
    evict,
  }
}
