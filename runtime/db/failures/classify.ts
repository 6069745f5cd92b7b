import { basename } from 'node:path'
import pg from 'pg'
import { DatabaseFailure, type DatabaseFailureKind } from './failures.ts'

/** SQLSTATE, or its class of two characters -> its meaning for the caller (PostgreSQL manual, appendix A). */
const kinds: Readonly<Record<string, DatabaseFailureKind>> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'locked',
  '57014': 'timeout',
  '08': 'unavailable',
  '57P01': 'unavailable',
  '57P02': 'unavailable',
  '57P03': 'unavailable',
  '57P04': 'unavailable',
  '57P05': 'unavailable',
  '25P03': 'unavailable',
  '53300': 'connections',
  '53400': 'resource-limit',
  // No memory, no disk, damaged files: their messages name paths of the server.
  '53': 'unavailable',
  '58': 'unavailable',
  F0: 'unavailable',
  XX001: 'unavailable',
  XX002: 'unavailable',
}

/**
 * The same for the opening of an exchange: it only checks the version and sets the role, so each of these codes has one
 * possible cause. A missing table, function or schema means that prepared objects are gone.
 */
const openingKinds: Readonly<Record<string, DatabaseFailureKind>> = {
  '42P01': 'stale',
  '42883': 'stale',
  '3F000': 'stale',
  '22023': 'role-refused',
  '42501': 'role-refused',
  '42704': 'role-refused',
}

/** After these codes, the connection's state (prepared names, transaction mode) may differ from our record of it. */
const suspect: ReadonlySet<string> = new Set(['26000', '42P05', '25P02', '25006', '25001'])

/** duplicate_prepared_statement and invalid_sql_statement_name. */
const ofNames: ReadonlySet<string> = new Set(['42P05', '26000'])

export const unavailableSentence = 'The database is not available at the moment; try again later.'

/** Sentences for kinds whose Postgres message would name hosts, files or settings of the server. */
const sentences: Partial<Readonly<Record<DatabaseFailureKind, string>>> = {
  unavailable: unavailableSentence,
  connections: 'The database has no connection left; try again later.',
  locked: 'Another transaction holds a lock that is needed; try again later.',
  'resource-limit': 'The request needs more of a resource than the database is configured to give one statement.',
}

/** Places in the sources of procedural languages where a function's own errors are raised, with codes of its choice. */
const raising: ReadonlySet<string> = new Set([
  'exec_stmt_raise',
  'PLy_elog_impl',
  'pltcl_elog',
  'plperl_call_perl_func',
])

/** Kinds about the server: a user's function that raises their codes is not such a failure. */
const aboutServer: ReadonlySet<DatabaseFailureKind> = new Set([
  'unavailable',
  'connections',
  'resource-limit',
  'timeout',
  'locked',
])

const isRaised = (error: unknown): boolean => error instanceof pg.DatabaseError && raising.has(error.routine ?? '')

/** SQLSTATE of an error that Postgres sent; null for everything else (sockets, time limits of the pool). */
export const sqlstateOf = (error: unknown): string | null =>
  error instanceof pg.DatabaseError ? (error.code ?? null) : null

/** True when the connection must not serve another request after this error, although the protocol is intact. */
export const invalidatesConnection = (error: unknown): boolean => suspect.has(sqlstateOf(error) ?? '')

/** True if Postgres does not know the prepared statements of the connection; the statement had no effect. */
export const isNameLost = (error: unknown): boolean => ofNames.has(sqlstateOf(error) ?? '')

/** The context of an error within one of our functions; that of others names theirs. */
const withinOurs = /^PL\/pgSQL function catalograph\./

/** Whether a statement names one of our objects that is gone: the check of the schema does. */
const isOfUnprepared = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  openingKinds[error.code ?? ''] === 'stale' &&
  /\bcatalograph\b/.test(error.message) &&
  (error.where === undefined || withinOurs.test(error.where))

const kindOf = (error: unknown): DatabaseFailureKind => {
  const sqlstate = sqlstateOf(error)
  if (isOfUnprepared(error)) return 'stale'
  if (sqlstate === null) return 'unavailable'
  const kind = kinds[sqlstate] ?? kinds[sqlstate.slice(0, 2)] ?? 'refused'
  return aboutServer.has(kind) && isRaised(error) ? 'refused' : kind
}

const isFrom = (sources: ReadonlySet<string>, error: unknown): boolean =>
  error instanceof pg.DatabaseError && sources.has(basename(error.file ?? ''))

/** Source files of Citus that report answers of workers, or their absence. */
const remote: ReadonlySet<string> = new Set(['adaptive_executor.c', 'connection_management.c', 'remote_commands.c'])

/** True for an error that Citus reports from another server. */
export const isOfWorker = (error: unknown): boolean => isFrom(remote, error)

/** Removes the shard's number from names. In messages about privileges the name comes last, unquoted. */
const withoutShards = (message: string): string =>
  message.replace(/_\d{6,}(?=")/g, '').replace(/^(permission denied for .*)_\d{6,}$/, '$1')

/** The message never names hosts or ports; the error is attached as `cause`, for the log only. */
const failure = (kind: DatabaseFailureKind, error: unknown, statement: number | null): DatabaseFailure => {
  // Our own failures keep their sentence.
  if (error instanceof DatabaseFailure) return error
  const text = error instanceof Error ? error.message : String(error)
  const said = isOfWorker(error) ? withoutShards(text) : text
  const made = new DatabaseFailure(kind, sentences[kind] ?? said, sqlstateOf(error), statement)
  made.cause = error
  return made
}

/** Classifies the error of a request's statement, or of our own query (`statement` null). */
export const classify = (error: unknown, statement: number | null): DatabaseFailure =>
  failure(kindOf(error), error, statement)

/** Source files of Citus that determine which servers a statement needs. Errors of workers come from none of them. */
const planning: ReadonlySet<string> = new Set([
  'citus_custom_scan.c',
  'distributed_intermediate_results.c',
  'distributed_planner.c',
  'insert_select_planner.c',
  'multi_join_order.c',
  'multi_logical_optimizer.c',
  'multi_logical_planner.c',
  'multi_physical_planner.c',
  'multi_router_planner.c',
  'query_pushdown_planning.c',
  'recursive_planning.c',
])

/**
 * Messages of Citus when planning shows that a write within a statement concerns no row, so that it has no shard to
 * name: alone (LookupShardRelationFromCatalog), or beside a relation that has one (ModifyQuerySupported).
 */
const noRows: Readonly<Record<string, RegExp>> = { XX000: / for shard 0$/, '0A000': /_\d{6,} is not distributed$/ }

/** True if planning showed that a write within the statement concerns no row. */
export const concernsNoRow = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && noRows[error.code ?? '']?.test(error.message) === true

/** feature_not_supported; in some places Citus reports the same without a code. */
const unsupported: ReadonlySet<string | null> = new Set(['0A000', 'XX000'])

/** Converts a failure that a coordinator reports because of the distribution of its rows. */
export const acrossShards = (failure: DatabaseFailure): DatabaseFailure => {
  if (!unsupported.has(failure.sqlstate) || !isFrom(planning, failure.cause)) return failure
  const made = new DatabaseFailure('across-shards', failure.message, failure.sqlstate, failure.statement)
  made.cause = failure.cause
  return made
}

/** Classifies an error before the request's first statement. */
export const classifyOpening = (error: unknown): DatabaseFailure =>
  failure(openingKinds[sqlstateOf(error) ?? ''] ?? kindOf(error), error, null)

/** Every failure to connect is an outage for the caller, a wrong password included. */
export const classifyConnecting = (error: unknown): DatabaseFailure =>
  failure(sqlstateOf(error) === '53300' ? 'connections' : 'unavailable', error, null)

/** For `catch` of an attempt to connect. */
export const throwConnecting = (error: unknown): never => {
  throw classifyConnecting(error)
}
