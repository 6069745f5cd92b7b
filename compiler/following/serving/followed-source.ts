import type { RevisionSource, Revision } from '../../../runtime/contract/artifact.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { counterExpression, versionExpression } from '../../../runtime/db/check/version.ts'
import type { Log } from '../../../runtime/settings/log/events.ts'
import { writtenExpression } from '../../catalog/written.ts'
import { createCompiler, type Compiled, type Compiler } from '../../compile.ts'
import type { LiveTriggers } from '../../emit/live/database.ts'
import { foldVersions } from '../prepare/prepare.ts'
import type { Diagnostic } from '../../../runtime/contract/manifest.ts'
import { printDiagnostic } from '../../catalog/diagnostics/diagnostics.ts'
import type { Prepare } from './prepare-once.ts'
import { unavailableSentence } from '../../../runtime/db/failures/classify.ts'
import { DatabaseFailure, isAway, isUnprepared } from '../../../runtime/db/failures/failures.ts'
import { singleFlight } from '../../../runtime/lib/caches.ts'
import { messageOf, didYouMean } from '../../../runtime/lib/text.ts'
import { retries, Hopeless } from '../../../runtime/lib/retry.ts'
import type { CatalogQuery } from '../../catalog/read.ts'
import { createJudgeLater } from './later-state.ts'

export interface FollowedSourceOptions {
  readonly schemas: readonly string[]
  readonly query: Query
  readonly prepare: Prepare
  /** Absent: no live queries. */
  readonly triggers?: LiveTriggers
  readonly log: Log
}

/**
 * The compiler for the runtime: prepares the database at the first call, then returns revisions. Rejects with Hopeless
 * if a schema to be served does not exist at first.
 *
 * Without event triggers, changes are not counted and no request can check a version. The runtime then asks once a
 * second, before it refuses or introspects, and after errors that a change of the schema causes; the answer is exact
 * (catalog/written.ts). The cost: for up to a second a request whose document is still valid is answered by the
 * previous schema. Privileges and rows are always current in Postgres.
 */
export function createFollowedSource(options: FollowedSourceOptions): RevisionSource {
  let follow: RevisionSource | null = null
  // Concurrent callers prepare the database once.
  const preparing = (again: boolean) => singleFlight(async () => (follow = await firstSource(options, again)))
  const [begin, renew] = [preparing(false), preparing(true)]
  return async (isOutdated) => {
    const known = follow ?? (await begin())
    try {
      return await known(isOutdated)
    } catch (error) {
      if (!isUnprepared(error)) throw error
      const renewed = await renew().catch((failure: unknown) => refuseUnprepared(error, failure))
      return renewed(isOutdated)
    }
  }
}

async function firstSource(options: FollowedSourceOptions, again: boolean): Promise<RevisionSource> {
  await demandSchemas(options.query, options.schemas)
  const { followed } = await options.prepare(again)
  return createSource(followed, options)
}

/** @throws DatabaseFailure, by which requests are answered like those of an outage; the log has the cause */
function refuseUnprepared({ sqlstate }: DatabaseFailure, cause: unknown): never {
  if (isAway(cause)) throw cause
  const failure = new DatabaseFailure('unavailable', unavailableSentence, sqlstate, null)
  failure.cause = cause
  throw failure
}

/** Waiting requests and processes come before diagnostics, by a delay that grows with the compile's duration. */
const afterRequestsMs = 100
const whenToRemark = ({ timings }: Compiled): number =>
  Math.max(
    afterRequestsMs,
    timings.reduce((sum, { ms }) => sum + ms, 0),
  )

function createSource(followed: boolean, { schemas, query, triggers, log }: FollowedSourceOptions): RevisionSource {
  const version = followed ? versionExpression : writtenExpression
  const remark = createRemarks(log)
  const fold = createFolding(query)
  let remarked: Promise<void> = Promise.resolve()
  const report = (compiled: Compiled): void => {
    setTimeout(() => {
      remarked = remarked.then(() => remark(compiled))
    }, whenToRemark(compiled)).unref()
    if (followed) fold()
  }
  const recorded = followed ? { counter: counterExpression } : {}
  // Triggers name columns, so they need event triggers to follow the schema.
  const watching = followed && triggers !== undefined ? { triggers } : {}
  const compiler = createCompiler({ query, schemas, version, ...recorded, ...watching })
  return createFollower({ compiler, query, version, guarded: followed, report })
}

const foldAfterMs = 1_000

/** Keeps the counter small, once for the compiles of a second; after a failure, the next compile tries again. */
function createFolding(query: Query): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      foldVersions(query).catch(() => undefined)
    }, foldAfterMs).unref()
  }
}

/** Counts the diagnostics of the first compile; later ones are logged if they are new. */
function createRemarks(log: Log): (compiled: Compiled) => Promise<void> {
  let said: ReadonlySet<string> | null = null
  return async ({ diagnose }) => {
    const remarks = (await diagnose()).filter(({ severity }) => severity !== 'info')
    const texts = remarks.map(printDiagnostic)
    if (said === null) logCount(log, remarks)
    else for (const text of texts) if (!said.has(text)) log({ kind: 'schema-remark', text })
    said = new Set(texts)
  }
}

function logCount(log: Log, remarks: readonly Diagnostic[]): void {
  const errors = remarks.filter(({ severity }) => severity === 'error').length
  if (remarks.length > 0) log({ kind: 'schema-remarks', errors, warnings: remarks.length - errors })
}

export interface FollowOptions {
  readonly compiler: Compiler
  readonly query: CatalogQuery
  /** SQL expression that changes with the schema, the one that the compiler reads with the catalogue. */
  readonly version: string
  /** False: requests cannot check the version, so revisions are returned without one. */
  readonly guarded: boolean
  /** Called after each successful compile. */
  readonly report: (compiled: Compiled) => void
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

/** The last good revision, and the version that it serves. */
interface Last {
  readonly compiled: Compiled
  readonly revision: Revision
  readonly version: string | null
  /** When a compile of this version failed. */
  readonly failedAt: number | null
}

/**
 * The newest revision of a database that may change at any time.
 *
 * It compiles only if the version changed, and never twice concurrently. A call during a compile may be about a change
 * that this compile has not seen; so it waits and then checks the version again, once for all waiting calls. If a
 * request found another version, the catalogue is read directly: the same statement returns the version. If a compile
 * fails, the last good revision is returned for the new version: its statements run as far as the database still
 * allows. Without one, or if the database does not answer, the call rejects.
 */
export function createFollower(options: FollowOptions): RevisionSource {
  const { compiler, query, version, guarded, report, now = Date.now } = options
  let last: Last | null = null
  let queued: Promise<Revision> | null = null
  let isOutdated = false
  let settled: Promise<unknown> = Promise.resolve()

  const isCurrent = (kept: Last, seen: string | null): boolean =>
    kept.version === seen && (kept.failedAt === null || now() - kept.failedAt < retries.compile.firstMs)
  const compile = async (before: Compiled | undefined): Promise<Last> => {
    const compiled = await compiler.compile(before)
    if (compiled !== before) report(compiled)
    const seen = compiled.revision.version
    const judge = createJudgeLater(compiled)
    const revision = { ...compiled.revision, report: compiled.report }
    return {
      compiled,
      revision: guarded
        ? { ...revision, later: singleFlight(async () => judge(await compiler.readAhead())) }
        : { ...revision, version: null },
      version: seen,
      failedAt: null,
    }
  }
  const readAtOnce = async (before: Last): Promise<Revision> => {
    const made = await compile(before.compiled)
    if (made.compiled === before.compiled) return before.revision
    last = made
    return made.revision
  }
  const refresh = async (): Promise<Revision> => {
    const seen = await readVersion(query, version)
    if (last !== null && isCurrent(last, seen)) return last.revision
    try {
      last = await compile(undefined)
    } catch (error) {
      if (last === null || isAway(error)) throw error
      const stands = { ...last.revision, version: guarded ? seen : null, failure: messageOf(error) }
      last = { ...last, revision: stands, version: seen, failedAt: now() }
    }
    return last.revision
  }
  const next = (atOnce: boolean): Promise<Revision> => {
    if (!atOnce || !guarded || last === null || last.failedAt !== null) return refresh()
    // A failure belongs to the version that was read before the compile.
    return readAtOnce(last).catch(() => refresh())
  }
  return (outdated = false) => {
    isOutdated ||= outdated
    if (queued === null) {
      queued = settled.then(() => {
        queued = null
        const atOnce = isOutdated
        isOutdated = false
        return next(atOnce)
      })
      settled = queued.catch(() => undefined)
    }
    return queued
  }
}

async function readVersion(query: CatalogQuery, version: string): Promise<string | null> {
  const { rows } = await query(`select (${version})::text as version`, [])
  const seen = rows[0]?.['version']
  return typeof seen === 'string' ? seen : null
}

const allSchemas = `select nspname::pg_catalog.text as name from pg_catalog.pg_namespace
  where not pg_catalog.starts_with(nspname::pg_catalog.text, 'pg_')`

/** A missing schema would be served as an empty one. @throws Hopeless with a suggestion, if there is a similar name */
export async function demandSchemas(query: CatalogQuery, schemas: readonly string[]): Promise<void> {
  const { rows } = await query(allSchemas, [])
  const known = rows.map(({ name }) => String(name))
  const missing = schemas.find((schema) => !known.includes(schema))
  if (missing === undefined) return
  const advice = didYouMean(missing, known, JSON.stringify)
  throw new Hopeless(`DB_SCHEMAS names the schema ${JSON.stringify(missing)}, which does not exist${advice}`)
}
