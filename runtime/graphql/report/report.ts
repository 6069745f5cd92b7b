import { GraphQLObjectType } from 'graphql'
import type { Exchange, ResultRow, RunExchange } from '../../contract/execution.ts'
import type {
  Diagnostic,
  EntityFacts,
  FunctionFacts,
  Manifest,
  ReportedFunction,
  ReportedRelation,
  ReportFacts,
} from '../../contract/manifest.ts'
import { broughtByExtension, type Missing } from '../../contract/brought.ts'
import { meaningOf } from '../../engine/meaning.ts'
import { openColumns } from '../../engine/secret-columns.ts'
import type { RoleView } from '../../engine/schema/schema.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { groupBy } from '../../lib/steps.ts'
import { ident, qualified } from '../../sql/ident.ts'
import { advice, type Callable } from './advice.ts'
import { liveReport, type LiveReport } from './report-live.ts'
import { unlimitedSchema, withLimitsSql, type Advice } from './report-limits.ts'

/**
 * `schemaReport` (spec/graphql.md 17): every relation and function of the schemas that ask for it, whether it is in the
 * API of the caller's role and if not why; the compiler's remarks; and the advice for the owner.
 */
export interface SchemaReport {
  readonly role: string
  readonly relations: readonly RelationReport[]
  readonly functions: readonly FunctionReport[]
  readonly remarks: readonly Diagnostic[]
  readonly advice: readonly Advice[]
}

interface Found {
  /** The extension that created it; absent: none. */
  readonly extension?: string
  readonly inSchema: boolean
  /** `no primary key`, `unusable name`, `no grant`, `overloaded function`, `not served`; null if it is in the API. */
  readonly reason: string | null
  readonly message: string | null
  /** The remedy: a sentence, or for grants the SQL. */
  readonly fix: string | null
}

interface RelationReport extends Found {
  readonly object: string
  readonly kind: string
  /** Its GraphQL type. */
  readonly type: string | null
  /** Fields that it lost: two relations share a name, another object has it, or it is that of the node id. */
  readonly conflicts: readonly Diagnostic[]
  /** Whether subscriptions may select it; absent if it is not in the manifest, or no relation is live. */
  readonly live?: LiveReport
}

interface FunctionReport extends Found {
  readonly object: string
  readonly arguments: readonly string[]
  /** Its field, on Query, Mutation or a row's type. */
  readonly field: string | null
  /** Like that of a relation. */
  readonly live?: LiveReport
}

/** The inputs of a report. */
export interface Reporting {
  readonly manifest: Manifest
  readonly facts: ReportFacts
  /** Of the role that the report is on. */
  readonly view: RoleView
  readonly anon: RoleVisibility
}

/** Runs an exchange, and the queries of the report in the same transaction. Rejects with DatabaseFailure. */
export async function runWithReport(
  run: RunExchange,
  exchange: Exchange,
  { manifest, facts, view, anon }: Reporting,
): Promise<{ readonly rows: readonly ResultRow[]; readonly report: SchemaReport }> {
  const { schemas, functions } = facts
  const unlimited = unlimitedSchema(manifest, anon, schemas)
  const asked = advice(view.role, schemas, manifest.allowlists ?? [], unlimited, callableOf(view, functions))
  const rows = await run({ ...exchange, statements: [...exchange.statements, asked] })
  const found = JSON.parse(rows.at(-1)?.[0]?.toString() ?? '[]') as readonly Advice[]
  return { rows: rows.slice(0, -1), report: schemaReport(view, facts, found.flatMap(withLimitsSql)) }
}

/** The functions of extensions in the role's API, by schema. */
function callableOf(view: RoleView, functions: readonly ReportedFunction[]): readonly Callable[] {
  const brought = functions.filter(({ ofExtension }) => ofExtension !== undefined)
  if (brought.length === 0) return []
  const shown = shownFunctions(view)
  const fields = brought.flatMap((fn) => {
    const facts = functionFacts(view.visible, fn)
    return facts !== undefined && shown.has(facts) ? [facts] : []
  })
  return [...groupBy(fields, ({ schema }) => schema)].map(([schema, group]) => ({
    schema,
    fields: group.map(({ field }) => field).join(', '),
  }))
}

function schemaReport(view: RoleView, facts: ReportFacts, found: readonly Advice[]): SchemaReport {
  const shown = shownFunctions(view)
  return {
    role: view.role,
    relations: facts.relations.map((relation) => relationReport(view.visible, facts, relation)),
    functions: facts.functions.map((fn) => functionReport(view.visible, facts, fn, shown)),
    remarks: facts.remarks,
    advice: found,
  }
}

const present: Found = { inSchema: true, reason: null, message: null, fix: null }
const absent = (missing: Missing): Found => ({ inSchema: false, ...missing })

function relationReport(visible: RoleVisibility, { remarks }: ReportFacts, relation: ReportedRelation): RelationReport {
  const { object, kind, ofExtension } = relation
  const entity = relation.entity === null ? undefined : visible.entity(relation.entity)
  const isThere = entity !== undefined && visible.isExposed(entity)
  const missing = (): Found => absent(relation.missing ?? missingRelation(visible, remarks, relation, entity))
  return {
    object,
    kind,
    type: isThere ? entity.name : null,
    conflicts: remarks.filter((remark) => isConflict(remark, relation)),
    ...(ofExtension !== undefined && { extension: ofExtension }),
    ...liveReport(entity),
    ...(isThere ? present : (insertOnly(visible, entity) ?? missing())),
  }
}

/** The report of a relation that the role can only insert into (spec/graphql.md 1.2). */
const insertOnly = (visible: RoleVisibility, entity: EntityFacts | undefined): Found | null =>
  entity !== undefined && visible.insertOnly.includes(entity)
    ? { ...present, message: `${visible.role} inserts rows, and may read no column of it.` }
    : null

function isConflict({ code, object }: Diagnostic, relation: ReportedRelation): boolean {
  const path = relation.object.slice(relation.kind.length + 1)
  return code === 'field-taken'
    ? object.startsWith(`relation of ${relation.object} (`)
    : code === 'node-id-kept' && (object.startsWith(`column ${path}.`) || object.endsWith(` on ${path}`))
}

function missingRelation(
  visible: RoleVisibility,
  remarks: readonly Diagnostic[],
  { object, schema, name, ofExtension }: ReportedRelation,
  entity: EntityFacts | undefined,
): Missing {
  if (ofExtension !== undefined) return broughtByExtension
  const role = ident(visible.role)
  const table = qualified(schema, name)
  const grant = entity === undefined ? `grant select on ${table} to ${role};` : grantOf(entity, table, role)
  if (entity !== undefined && !uses(visible, schema)) return noGrant(visible, schema, grant)
  const reads =
    entity !== undefined &&
    (visible.can(entity.grants.select) || entity.columns.some(({ grants }) => visible.can(grants.select)))
  if (entity !== undefined && !reads) {
    return { reason: 'no grant', message: `${visible.role} may read no column of it.`, fix: grant }
  }
  return unusableName(remarks, object, 'name-taken')
}

function grantOf({ columns }: EntityFacts, table: string, role: string): string {
  const open = openColumns(columns)
  if (open.length === columns.length) return `grant select on ${table} to ${role};`
  return open.length === 0
    ? 'Every column looks like a secret: grant those that are none.'
    : `grant select (${open.join(', ')}) on ${table} to ${role};`
}

const uses = (visible: RoleVisibility, schema: string): boolean =>
  visible.manifest.schemas.some(({ name, usage }) => name === schema && visible.can(usage))

const noGrant = ({ role }: RoleVisibility, schema: string, grant: string): Missing => ({
  reason: 'no grant',
  message: `${role} has no USAGE on its schema.`,
  fix: `grant usage on schema ${ident(schema)} to ${ident(role)}; ${grant}`,
})

function unusableName(remarks: readonly Diagnostic[], object: string, code: string): Missing {
  const said = remarks.find((remark) => remark.object === object && remark.code === code)
  return {
    reason: 'unusable name',
    message: said?.message ?? "Its name is another object's.",
    fix: said?.fix ?? 'Give it another name by comment.',
  }
}

function functionReport(
  visible: RoleVisibility,
  { remarks }: ReportFacts,
  fn: ReportedFunction,
  shown: ReadonlySet<FunctionFacts>,
): FunctionReport {
  const facts = functionFacts(visible, fn)
  const { object, arguments: args, ofExtension } = fn
  const base = {
    object,
    arguments: args,
    ...(ofExtension !== undefined && { extension: ofExtension }),
    ...liveReport(facts),
  }
  if (fn.missing !== null) return { ...base, field: null, ...absent(fn.missing) }
  if (facts !== undefined && shown.has(facts)) return { ...base, field: facts.field, ...present }
  return { ...base, field: null, ...absent(missingFunction(visible, remarks, fn, facts)) }
}

function functionFacts({ manifest, entity }: RoleVisibility, { facts }: ReportedFunction): FunctionFacts | undefined {
  if (facts === null) return undefined
  const place = facts.row === null ? manifest.functions : entity(facts.row)?.computed
  return place?.find(({ id }) => id === facts.id)
}

function missingFunction(
  visible: RoleVisibility,
  remarks: readonly Diagnostic[],
  fn: ReportedFunction,
  facts: FunctionFacts | undefined,
): Missing {
  if (fn.ofExtension !== undefined) return broughtByExtension
  const grant = `grant execute on function ${qualified(fn.schema, fn.name)}(${fn.arguments.join(', ')}) to ${ident(visible.role)};`
  if (!uses(visible, fn.schema)) return noGrant(visible, fn.schema, grant)
  if (facts === undefined || !visible.can(facts.execute)) {
    return { reason: 'no grant', message: `${visible.role} may not execute it.`, fix: grant }
  }
  const isTaken = remarks.some(({ object, code }) => object === fn.object && code === 'field-taken')
  if (isTaken) return unusableName(remarks, fn.object, 'field-taken')
  return {
    reason: 'no grant',
    message: `${visible.role} may not see all of what it takes and answers.`,
    fix: 'Grant SELECT on the whole table that it takes a row of and on what it answers, and USAGE on the schemas of its types.',
  }
}

function shownFunctions({ schema, visible }: RoleView): ReadonlySet<FunctionFacts> {
  const roots = [schema.getQueryType(), schema.getMutationType()]
  const rows = visible.exposed.map(({ name }) => schema.getType(name))
  const types = [...roots, ...rows].filter((type) => type instanceof GraphQLObjectType)
  return new Set(
    types.flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) => {
        const meaning = meaningOf(field)
        return meaning.kind === 'call' || meaning.kind === 'computed' ? [meaning.function] : []
      }),
    ),
  )
}
