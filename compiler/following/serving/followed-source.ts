import type { RevisionSource } from '../../../runtime/contract/artifact.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { counterExpression, versionExpression } from '../../../runtime/db/check/version.ts'
import type { Log } from '../../../runtime/settings/log/events.ts'
import { writtenExpression } from '../../catalog/written.ts'
import { createCompiler } from '../../compile.ts'
import type { Compiled } from '../../compile.ts'
import { createFollower } from '../../follow.ts'
import type { LiveTriggers } from '../../emit/live/database.ts'
import { foldVersions } from '../prepare/prepare.ts'
import type { Diagnostic } from '../../../runtime/contract/manifest.ts'
import { printDiagnostic } from '../../catalog/diagnostics/print.ts'
import { demandSchemas } from './demand-schemas.ts'
import type { Prepare } from './prepare-once.ts'

export interface FollowedSourceOptions {
  readonly schemas: readonly string[]
  /** Runs statements as the login role. */
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
  return async (isOutdated) => {
    follow ??= await firstSource(options)
    return follow(isOutdated)
  }
}

async function firstSource(options: FollowedSourceOptions): Promise<RevisionSource> {
  await demandSchemas(options.query, options.schemas)
  const { followed } = await options.prepare()
  return createSource(followed, options)
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
