import type { Diagnostic, EntityFacts, Manifest, ReportFacts } from '../../../../runtime/contract/manifest.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import type { Advice } from '../../../../runtime/graphql/report/report-limits.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { nameObject } from '../../../catalog/catalog.ts'
import { withDatabase } from '../../../../runtime/db/pool/pool.ts'
import { buildView, visibleTo } from '../../../additions/engine.ts'
import { runWithReport, type SchemaReport } from '../../../../runtime/graphql/report/report.ts'
import { createCompiler, type Compiled } from '../../../compile.ts'
import { seenTriggers } from '../../../following/serving/live-triggers.ts'
import { groupBy } from '../../../../runtime/lib/steps.ts'
import type { LiveReport } from '../../../../runtime/graphql/report/report-live.ts'

/** Rows with a null in their key are in no answer or change (spec/graphql.md 5.8); only their owner would notice. */
const problem = 'rows without a key are in no page'

/** Counting ends here. */
const most = 1_000

/** For all relations together: relations that are not counted by then, or cannot be read, are left out. */
const limitMs = 10_000

/** Counts the rows of every relation with a nullable key, as the owner. It only reads. */
export async function keylessRows(query: Query, { entities }: Pick<Manifest, 'entities'>): Promise<readonly Advice[]> {
  const until = performance.now() + limitMs
  const found: Advice[] = []
  for (const entity of entities) {
    const columns = looseKey(entity)
    const leftMs = Math.floor(until - performance.now())
    if (columns.length === 0 || leftMs < 1) continue
    const rows = await countRows(query, entity, columns, leftMs)
    if (rows > 0) found.push(adviceOn(entity, columns, rows))
  }
  return found
}

const looseKey = ({ key, columns }: EntityFacts): readonly string[] =>
  key.filter((name) => columns.some(({ column, notNull }) => column === name && !notNull))

async function countRows(
  query: Query,
  { schema, relation }: EntityFacts,
  columns: readonly string[],
  leftMs: number,
): Promise<number> {
  const isNull = columns.map((column) => `${ident(column)} is null`).join(' or ')
  const text = `select pg_catalog.count(*)::pg_catalog.int4 as rows
    from (select from ${qualified(schema, relation)} where ${isNull} limit ${most}) x`
  await query('begin read only')
  try {
    await query(`set local statement_timeout = ${leftMs}`)
    return (await query<{ readonly rows: number }>(text)).rows[0]?.rows ?? 0
  } catch {
    return 0
  } finally {
    await query('rollback')
  }
}

function adviceOn({ schema, relation, kind }: EntityFacts, columns: readonly string[], rows: number): Advice {
  const name = qualified(schema, relation)
  const number = rows === most ? `${most} rows or more` : rows === 1 ? '1 row' : `${rows} rows`
  const [have, are] = rows === 1 ? ['has', 'is'] : ['have', 'are']
  const object = nameObject(kind, schema, relation)
  const notNull = columns.map((column) => `alter column ${ident(column)} set not null`).join(', ')
  return {
    problem,
    object,
    message: `${number} of ${object} ${have} no key (a null in ${columns.join(', ')}) and ${are} in no page, total or change.`,
    sql:
      kind === 'table'
        ? `alter table ${name} ${notNull}; -- once they have values; or name another key by comment`
        : '-- Leave them out of it, or name another key by comment.',
  }
}

export type ReportingManifest = Manifest & { readonly report: ReportFacts }

/** Compiles a database with a report on every schema, independent of its comments. */
export async function compileReporting(
  query: Query,
  schemas: readonly string[],
): Promise<{ readonly compiled: Compiled; readonly manifest: ReportingManifest }> {
  const compiled = await createCompiler({ query, schemas, version: null, triggers: seenTriggers }).compile()
  return { compiled, manifest: { ...compiled.revision.manifest, report: await compiled.report() } }
}

/**
 * The answer of a request with `extensions.schemaReport` (spec/graphql.md 17), as the login role of the URL. Rejects
 * with DatabaseFailure.
 */
export async function reportFor(url: string, manifest: ReportingManifest, role: string): Promise<SchemaReport> {
  const { report: facts } = manifest
  const reporting = { manifest, facts, view: buildView(manifest, role), anon: visibleTo(manifest, 'anon') }
  const exchange = { caller: { role, claims: '{}' }, version: null, readOnly: true, statements: [] }
  return withDatabase({ url, schemas: facts.schemas }, async ({ run }) => {
    const { report } = await runWithReport(run, exchange, reporting)
    return report
  })
}

export const printReport = (report: SchemaReport): string =>
  [summary(report), ...sections(report)].filter((text) => text !== '').join('\n\n')

const countedInSchema = (list: readonly { readonly inSchema: boolean }[]): string =>
  `${list.filter(({ inSchema }) => inSchema).length} of ${list.length}`

const summary = ({ role, relations, functions }: SchemaReport): string =>
  `${role} finds ${countedInSchema(relations)} tables and views, and ${countedInSchema(functions)} functions`

type Entry = Pick<Diagnostic, 'object' | 'message' | 'fix'>

const section = (title: string, entries: readonly Entry[]): string =>
  [`${title} (${entries.length})`, ...[...groupBy(entries, ({ message }) => message)].map(printAlike)].join('\n')

/** A message about several objects is printed once, and so is a common fix. */
function printAlike([message, entries]: readonly [string, readonly Entry[]]): string {
  const fixes = [...new Set(entries.map(({ fix }) => fix))]
  const isShared = entries.length > 1 && fixes.length === 1
  return [
    ...[message, ...(isShared ? fixes : [])].map((line) => `  ${line}`),
    ...entries.flatMap(({ object, fix }) => [`    ${object}`, ...(isShared ? [] : [`      ${fix}`])]),
  ].join('\n')
}

/** Each with the tables whose writes run triggers for it. */
const watchable = (objects: readonly { readonly object: string; readonly live?: LiveReport }[]): readonly string[] => {
  const entries = objects.flatMap(({ object, live }) =>
    live?.watchable === true
      ? [
          {
            object,
            message: `A write runs a trigger on: ${live.reads.join(', ') || 'nothing'}`,
            fix: wakesOf(live.pins),
          },
        ]
      : [],
  )
  return entries.length === 0 ? [] : [section('Can be watched', entries)]
}

const wakesOf = (pins: readonly string[]): string =>
  pins.length === 0
    ? 'Each change runs every query that watches it again.'
    : `A filter on one of these columns ignores changes of other rows: ${pins.join(', ')}`

const counts = (things: readonly unknown[], one: string, several: string): readonly string[] =>
  things.length === 0 ? [] : [`${things.length} ${things.length === 1 ? one : several}`]

/** Objects of extensions are counted: a line for each extension. */
function brought({ relations, functions }: Pick<SchemaReport, 'relations' | 'functions'>): readonly string[] {
  const absent = [...relations, ...functions].filter(({ inSchema }) => !inSchema)
  const lines = [...groupBy(absent, ({ extension }) => extension)].flatMap(([extension, group]) => {
    if (extension === undefined) return []
    const kinds = [
      ...counts(
        group.filter((one) => 'kind' in one),
        'table or view',
        'tables and views',
      ),
      ...counts(
        group.filter((one) => 'arguments' in one),
        'function',
        'functions',
      ),
    ]
    return [`  extension ${extension} brought ${kinds.join(' and ')}`]
  })
  return lines.length === 0 ? [] : [['Not in the API: what extensions brought', ...lines.sort()].join('\n')]
}

const sections = ({ relations, functions, remarks, advice }: SchemaReport): readonly string[] => {
  const absent = [...relations, ...functions].filter(({ inSchema, extension }) => !inSchema && extension === undefined)
  const missing = [...groupBy(absent, ({ reason }) => reason ?? '')].map(([reason, group]) =>
    section(
      `Not in the API: ${reason}`,
      group.map(({ object, message, fix }) => ({ object, message: message ?? '', fix: fix ?? '' })),
    ),
  )
  const problems = [...groupBy(advice, ({ problem }) => problem)].map(([problem, group]) =>
    section(
      `To fix: ${problem}`,
      group.map(({ object, message, sql }) => ({ object, message, fix: sql })),
    ),
  )
  const shown = remarks.filter(({ severity }) => severity !== 'info')
  const remarked = [...groupBy(shown, ({ code, severity }) => `${severity} ${code}`)].map(([title, group]) =>
    section(`Remarks: ${title}`, group),
  )
  return [
    ...missing,
    ...brought({ relations, functions }),
    ...remarked,
    ...watchable([...relations, ...functions]),
    ...problems,
  ]
}
