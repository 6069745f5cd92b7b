import type { Manifest, ReportFacts } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { withDatabase } from '../../../runtime/db/pool/pool.ts'
import { buildView } from '../../../runtime/engine/schema/schema.ts'
import { visibleTo } from '../../../runtime/engine/view.ts'
import { unlimitedSchema } from '../../../runtime/graphql/report/report-limits.ts'
import { runWithAdvice, schemaReport, type SchemaReport } from '../../../runtime/graphql/report/report.ts'
import { createCompiler, type Compiled } from '../../compile.ts'
import { seenTriggers } from '../../following/serving/live-triggers.ts'

/** A manifest that reports on all of its schemas. */
export type ReportingManifest = Manifest & { readonly report: ReportFacts }

/** Compiles a database with a report on every schema, independent of its comments. */
export async function compileReporting(
  query: Query,
  schemas: readonly string[],
): Promise<{ readonly compiled: Compiled; readonly manifest: ReportingManifest }> {
  const compiled = await createCompiler({
    query,
    schemas,
    version: null,
    reportsAll: true,
    triggers: seenTriggers,
  }).compile()
  const { manifest } = compiled.revision
  const report = manifest.report ?? { schemas: [], relations: [], functions: [], remarks: [] }
  return { compiled, manifest: { ...manifest, report } }
}

/**
 * The answer of a request with `extensions.schemaReport` (spec/graphql.md 17), as the login role of the URL. Rejects
 * with DatabaseFailure.
 */
export async function reportFor(url: string, manifest: ReportingManifest, role: string): Promise<SchemaReport> {
  const { report, allowlists = [] } = manifest
  const schemas = manifest.schemas.map(({ name }) => name)
  const view = buildView(manifest, role)
  const unlimited = unlimitedSchema(manifest, visibleTo(manifest, 'anon'), schemas)
  const exchange = { caller: { role, claims: '{}' }, version: null, readOnly: true, statements: [] }
  return withDatabase({ url, schemas }, async ({ run }) => {
    const { advice } = await runWithAdvice(run, view, report, { allowlists, unlimited }, exchange)
    return schemaReport(view, report, advice)
  })
}
