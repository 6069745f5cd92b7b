import type { Log } from '../../settings/log/events.ts'

/**
 * Failures between this process and Postgres, as values. Source of the SQLSTATE classes: PostgreSQL manual, appendix A.
 */
export type DatabaseFailureKind =
  /** The schema changed since the statements were compiled; nothing ran. */
  | 'stale'
  /** The caller's role does not exist or the login role may not switch to it; nothing ran. */
  | 'role-refused'
  /** Postgres cannot be reached, goes away, or has no room; trying again later helps. */
  | 'unavailable'
  /** Serialization failure or deadlock; nothing was kept, trying again helps. */
  | 'conflict'
  /** Another transaction holds a lock for longer than lock_timeout; nothing was kept, trying again helps. */
  | 'locked'
  /** The answer exceeds its bound; reading was given up and the connection closed. */
  | 'too-large'
  /** statement_timeout, or a cancel request from outside. */
  | 'timeout'
  /** No connection became free in time, too many requests wait, or there is no room for the answer; nothing ran. */
  | 'overloaded'
  /** The request's own deadline passed; nothing was kept. */
  | 'deadline'
  /** The client closed its connection, so the answer has no reader. */
  | 'gone'
  /** This process is stopping; nothing was kept. */
  | 'stopping'
  /** The request needs more than the server's configuration gives one statement, such as temp_file_limit. */
  | 'resource-limit'
  /** Postgres has no connection left. */
  | 'connections'
  /** The statement relates rows that Citus keeps on different servers in an unsupported way. */
  | 'across-shards'
  /** Postgres refused a statement of the request; its message is the answer. */
  | 'refused'

export class DatabaseFailure extends Error {
  readonly kind: DatabaseFailureKind
  readonly sqlstate: string | null
  /** Index into the exchange's statements, or null when it failed before or after them. */
  readonly statement: number | null

  constructor(kind: DatabaseFailureKind, message: string, sqlstate: string | null, statement: number | null) {
    super(message)
    this.name = 'DatabaseFailure'
    this.kind = kind
    this.sqlstate = sqlstate
    this.statement = statement
  }
}

/** True if Postgres cannot be reached, or went away during a statement. */
export const isAway = (error: unknown): boolean => error instanceof DatabaseFailure && error.kind === 'unavailable'

/** A table, function or schema that does not exist (PostgreSQL manual, appendix A). */
const missing: ReadonlySet<string | null> = new Set(['42P01', '42883', '3F000'])

/** True if the objects that `catalograph prepare` makes are missing: it is another database, or they were dropped. */
export const isUnprepared = (error: unknown): error is DatabaseFailure =>
  error instanceof DatabaseFailure && missing.has(error.sqlstate) && error.statement === null

/** The same failure, with the index of its statement shifted. */
export function atStatement(error: DatabaseFailure, statement: number | null): DatabaseFailure {
  const failure = new DatabaseFailure(error.kind, error.message, error.sqlstate, statement)
  failure.cause = error.cause
  return failure
}

/** None of several hosts served. */
export class HostsFault extends Error {
  override readonly name = 'HostsFault'
  /** Host and port -> the error. */
  readonly tried: ReadonlyMap<string, unknown>

  constructor(tried: ReadonlyMap<string, unknown>) {
    super(`None of ${[...tried.keys()].join(', ')} serves.`)
    this.tried = tried
  }
}

/**
 * The reason of a failure, for the operator: the log and the commands. Callers get the sentence of the failure instead,
 * which names no host, file or setting.
 */

/** Code of Node or OpenSSL -> advice. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; check host and port',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'no route to the host exists',
  ENETUNREACH: 'no route to the network exists',
  ETIMEDOUT: 'the host does not answer; check host, port and firewall',
  ENOENT: 'no server has its socket in that folder',
  ERR_TLS_CERT_ALTNAME_INVALID: 'with sslmode=verify-ca the name is not compared',
  CERT_HAS_EXPIRED: 'the server needs a new certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'name it in sslrootcert, or use sslmode=require, which does not verify it',
  SELF_SIGNED_CERT_IN_CHAIN: 'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  UNABLE_TO_GET_ISSUER_CERT: 'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  '28P01': 'check the user and the password of the URL',
  '3D000': 'check the name of the database in the URL',
  '28000': 'check the user of the URL, and pg_hba.conf of the server',
  '53300': 'lower DB_POOL_SIZE, or raise max_connections of the server',
}

/** Messages of pg without a code, and of poolers, which use one code for many. */
const messages: Readonly<Record<string, string>> = {
  'The server does not support SSL connections':
    'use sslmode=prefer or sslmode=disable, or switch ssl on in postgresql.conf',
  'timeout expired': 'the server did not answer in time; check host, port and firewall',
  'Connection terminated due to connection timeout': 'the server did not answer in time; check host, port and firewall',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string':
    'the URL has no password, and the server asks for one',
  // PgBouncer 1.18 and 1.25.
  'transaction blocks not allowed in statement pooling mode': 'set pool_mode of the pooler to transaction',
}

interface CodedError extends Error {
  readonly code?: string
}

/** A name with several addresses fails with one error for each (Node manual, net.connect). */
const firstOf = (error: Error): CodedError => {
  if (!(error instanceof AggregateError)) return error
  const errors = error.errors as readonly unknown[]
  const [first] = errors
  return first instanceof Error ? first : error
}

const notThere: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

const errorSentence = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { message, code = '' } = firstOf(error)
  return message === '' ? code : message
}

const adviceOn = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const { message, code = '' } = firstOf(error)
  return advice[code] ?? messages[message]
}

const hostSentences = ({ tried }: HostsFault): string =>
  [...tried].map(([host, error]) => `${host}: ${advised(error)}`).join('; ')

const advised = (error: unknown): string => {
  if (error instanceof HostsFault) return hostSentences(error)
  const wanted = adviceOn(error)
  return wanted === undefined ? errorSentence(error) : `${errorSentence(error)}: ${wanted}`
}

/** The sentence of an error, with advice if the cause is known; for several hosts, one for each. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof DatabaseFailure)) return errorSentence(error)
  const cause = error.cause ?? error
  return notThere.has(error.kind) ? advised(cause) : errorSentence(cause)
}

/** All requests of an outage fail in the same way; one log line per interval is enough. */
const quietMs = 1_000

const outages: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

/** Such failures end by themselves for all requests: Postgres answers again (PostgreSQL manual, appendix A). */
const ending = /^(?:08|57|53300)/

const diskFull = '53100'

/** The time between questions whether an outage has ended. */
const lookEveryMs = 250

/**
 * Receives failures of requests, and logs the cause of an outage and its end; callers get only the general sentence.
 * @param now in milliseconds
 * @param ping resolves when Postgres answers
 */
export function createOutageLog(log: Log, now: () => number, ping: () => Promise<void>): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  let isAwaited = false
  const awaitEnd = (since: number): void => {
    const look = async (): Promise<void> => {
      const isBack = await ping().then(
        () => true,
        () => false,
      )
      if (!isBack) return awaitEnd(since)
      isAwaited = false
      log({ kind: 'database-back', awayMs: Math.round(now() - since) })
    }
    setTimeout(() => void look(), lookEveryMs).unref()
  }
  return (error) => {
    if (!(error instanceof DatabaseFailure && outages.has(error.kind))) return
    const { sqlstate } = error
    if (!isAwaited && (sqlstate === null || ending.test(sqlstate))) {
      isAwaited = true
      awaitEnd(now())
    }
    if (now() - loggedAt < quietMs) return
    loggedAt = now()
    log({ kind: sqlstate === diskFull ? 'database-disk-full' : 'database-away', reason: reasonOf(error) })
  }
}
