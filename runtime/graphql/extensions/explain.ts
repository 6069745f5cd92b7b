import type { BoundStatement, Exchange, ResultRow, RunExchange } from '../../contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../db/failures/failures.ts'
import type { Collection, Plan, Row as PlannedRow, RowMember } from '../plan/types.ts'
import type { Slot } from '../plan/values.ts'
import type { Part } from '../statements/source.ts'
import { fieldOf } from '../statements/field-of.ts'
import { toStatements, type Notes, type StatementEngine, type Statements } from '../statements/statements.ts'
import { isJsonObject } from '../../lib/json.ts'

/**
 * `explain` (spec/graphql.md 17): returns every statement of a request with its parameters and Postgres' plan for it,
 * under the places of the answer that it makes. A statement is explained right before it runs and in the same
 * transaction, so its plan is about the rows that it meets; explaining runs nothing.
 */
export interface Explained {
  /** Response keys of what the statement answers, from the root. */
  readonly paths: readonly Path[]
  readonly statement: string
  /** In text format, in order of $1, $2, ... */
  readonly parameters: readonly (string | null)[]
  /** For each parameter the variable that it comes from, as `$filter.id.eq`; null where the document holds the value. */
  readonly variables: readonly (string | null)[]
  /**
   * EXPLAIN (FORMAT JSON). What reads a relation or calls a function also says under `GraphQL Path` for which place of
   * the answer; what a view, a policy or a function that Postgres inlines reads, for the place that it stands in.
   */
  readonly plan: unknown
}

type Path = readonly string[]

/** An exchange's rows and, for each of its statements, the plan as JSON text. */
export interface WithPlans {
  readonly rows: readonly ResultRow[]
  readonly plans: readonly string[]
}

/** It is used once, so it gets no name. */
const explaining = ({ text, values, unchanged }: BoundStatement): BoundStatement => ({
  name: '',
  text: `explain (format json) ${text}`,
  values,
  // What changes no row may have no plan either.
  ...(unchanged !== undefined && { unchanged: '[]' }),
})

/** Runs an exchange in which every statement is explained before it runs. */
export async function runWithPlans(run: RunExchange, exchange: Exchange): Promise<WithPlans> {
  try {
    const statements = exchange.statements.flatMap((statement) => [explaining(statement), statement])
    const answers = await run({ ...exchange, statements })
    return {
      rows: answers.filter((_, index) => index % 2 === 1),
      plans: answers.filter((_, index) => index % 2 === 0).map((row) => row[0]?.toString() ?? 'null'),
    }
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || error.statement === null) throw error
    if (error.sqlstate === aborted) return withoutPlans(run, exchange)
    throw atStatement(error, Math.floor(error.statement / 2))
  }
}

/** in_failed_sql_transaction: a shard that could not explain a statement, which Citus ignores, ended the transaction there. */
const aborted = '25P02'

async function withoutPlans(run: RunExchange, exchange: Exchange): Promise<WithPlans> {
  return { rows: await run(exchange), plans: exchange.statements.map(() => 'null') }
}

/** @param plan what the statements were written from */
export function explain(
  engine: StatementEngine,
  role: string,
  plan: Plan,
  { statements, pieces, inSteps }: Statements,
  bound: readonly BoundStatement[],
  plans: readonly string[],
): readonly Explained[] {
  const places = placesOf(plan)
  const aliases = statements.map(() => new Map<string, Path>())
  // Written once more, this time with an eye on what is read for which part of the plan.
  const note: Notes = (statement) => (alias, part) => {
    const path = places.get(part)
    if (path !== undefined) aliases[statement]?.set(alias, path)
  }
  toStatements(engine, role, plan, note, inSteps === undefined)
  const roots = plan.roots.filter(({ kind }) => kind !== 'constant')
  const keysOf = (statement: number): readonly string[] => {
    if (!plan.writes) return roots.map(({ key }) => key)
    const field = fieldOf(pieces, statement)
    return field === null ? [] : [field.key]
  }
  return statements.map(({ text, values }, index) => {
    const paths = keysOf(index).map((key) => [key])
    // A statement for one field reads everything for it.
    const whole = paths.length === 1 ? paths[0] : undefined
    return {
      paths,
      statement: text,
      parameters: bound[index]?.values ?? [],
      variables: values.map(({ slot }) => variableOf(slot)),
      plan: withPaths(JSON.parse(plans[index] ?? 'null'), aliases[index] ?? new Map(), whole),
    }
  })
}

const variableOf = (slot: Slot): string | null => (slot.kind === 'variable' ? `$${slot.path.join('.')}` : null)

/** Partitions are read under their parent's alias and a number. */
const aliasOf = (name: string): string => name.replace(/_\d+$/, '')

/**
 * Adds to each node of a plan that reads or changes a relation, or calls a function, the path that it does so for: that
 * of its alias where the statement gave it one, else that of the node that it stands in.
 */
function withPaths(plan: unknown, paths: ReadonlyMap<string, Path>, outer: Path | undefined): unknown {
  if (Array.isArray(plan)) return plan.map((item) => withPaths(item, paths, outer))
  if (!isJsonObject(plan)) return plan
  const path =
    namesOf(plan)
      .map((name) => paths.get(name))
      .find((own) => own !== undefined) ?? outer
  const inner = Object.entries(plan).map(([key, value]) => [key, withPaths(value, paths, path)] as const)
  const reads = 'Relation Name' in plan || 'Function Name' in plan
  return Object.fromEntries(path === undefined || !reads ? inner : [...inner, ['GraphQL Path', path] as const])
}

/** What a node may be called in its statement; a CTE is named where it hangs: `CTE s3`. */
function namesOf({ Alias: alias, 'Subplan Name': subplan }: Readonly<Record<string, unknown>>): readonly string[] {
  const own = typeof alias === 'string' ? [alias, aliasOf(alias)] : []
  return typeof subplan === 'string' && subplan.startsWith('CTE ') ? [...own, subplan.slice('CTE '.length)] : own
}

type Places = Map<Part, Path>

/** The parts of a plan, and where in the answer each of them stands. */
function placesOf({ roots }: Plan): Places {
  const places: Places = new Map()
  for (const root of roots) {
    places.set(root, [root.key])
    if ('row' in root) addRow(places, root.row, [root.key])
    if (root.kind === 'collection' || root.kind === 'call-set') addCollection(places, root.collection, [root.key])
    if (root.kind === 'collections') for (const one of root.of) addCollection(places, one, [root.key])
    if ('members' in root) {
      for (const member of root.members) {
        if (member.kind === 'records') addRow(places, member.row, [root.key, member.key])
      }
    }
  }
  return places
}

function addCollection(places: Places, collection: Collection, path: Path): void {
  places.set(collection, path)
  for (const edges of collection.members) {
    for (const node of edges.kind === 'edges' ? edges.members : []) {
      if (node.kind === 'node') addRow(places, node.row, [...path, edges.key, node.key])
    }
  }
}

function addRow(places: Places, row: PlannedRow, path: Path): void {
  places.set(row, path)
  for (const member of row.members) addMember(places, member, [...path, member.key])
}

function addMember(places: Places, member: RowMember, path: Path): void {
  places.set(member, path)
  if ('row' in member) addRow(places, member.row, path)
  if (member.kind === 'union') for (const { row } of member.of) addRow(places, row, path)
  if ('collection' in member) addCollection(places, member.collection, path)
}
