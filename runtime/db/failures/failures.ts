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

/** The same failure, with the index of its statement shifted. */
export function atStatement(error: DatabaseFailure, statement: number | null): DatabaseFailure {
  const failure = new DatabaseFailure(error.kind, error.message, error.sqlstate, statement)
  failure.cause = error.cause
  return failure
}
