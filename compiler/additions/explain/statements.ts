import type { BoundStatement, Exchange, ResultRow, RunExchange } from '../../../runtime/contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../../runtime/db/failures/failures.ts'
import type { Extension } from '../../../runtime/graphql/run/extended.ts'
import type { Collection, Plan, Row as PlannedRow, RowMember } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Slot } from '../../../runtime/graphql/plan/values.ts'
import type { Part } from '../../../runtime/graphql/statements/source.ts'
import { fieldOf } from '../../../runtime/graphql/statements/field-of.ts'
import {
  toStatements,
  type Notes,
  type StatementEngine,
  type Statements,
} from '../../../runtime/graphql/statements/statements.ts'
import { isJsonObject } from '../../../runtime/lib/json.ts'

/**
 * `explain` (spec/graphql.md 17): returns every statement of a request with its parameters and Postgres' plan, under
 * the paths of the answer that it produces. A statement is explained right before it runs and in the same transaction,
 * so its plan is about the rows that it meets; explaining runs nothing.
 */
export interface Explained {
  /** Response keys of the statement's part of the answer, from the root. */
  readonly paths: readonly Path[]
  readonly statement: string
  /** In text format, in order of $1, $2, ... */
  readonly parameters: readonly (string | null)[]
  /** For each parameter its variable, for example `$filter.id.eq`; null if the value is in the document. */
  readonly variables: readonly (string | null)[]
  /**
   * EXPLAIN (FORMAT JSON). Nodes that read a relation or call a function have `GraphQL Path`, the path in the answer
   * that they serve; nodes of a view, a policy or an inlined function have the path of their parent.
   */
  readonly plan: unknown
}

type Path = readonly string[]

export const extension: Extension = {
  name: 'explain',
  fact: 'explain',
  run: async (run, exchange, { engine, made }) => {
    const { rows, plans } = await runWithPlans(run, exchange)
    const { statements, plan } = made()
    return { rows, answer: explain(engine, exchange.caller.role, plan, statements, exchange.statements, plans) }
  },
}

/** An exchange's rows and, for each of its statements, the plan as JSON text. */
interface WithPlans {
  readonly rows: readonly ResultRow[]
  readonly plans: readonly string[]
}

/** It is used once, so it gets no name. */
const explaining = ({ text, values, unchanged }: BoundStatement): BoundStatement => ({
  name: '',
  text: `explain (format json) ${text}`,
  values,
  // A statement that changes no row may lack a plan.
  ...(unchanged !== undefined && { unchanged: '[]' }),
})

/** Runs an exchange in which every statement is explained before it runs. */
async function runWithPlans(run: RunExchange, exchange: Exchange): Promise<WithPlans> {
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

/** in_failed_sql_transaction: a shard could not explain a statement; Citus ignores that, its transaction is aborted. */
const aborted = '25P02'

async function withoutPlans(run: RunExchange, exchange: Exchange): Promise<WithPlans> {
  return { rows: await run(exchange), plans: exchange.statements.map(() => 'null') }
}

/** @param plan the source of the statements */
function explain(
  engine: StatementEngine,
  role: string,
  plan: Plan,
  { statements, pieces, inSteps }: Statements,
  bound: readonly BoundStatement[],
  plans: readonly string[],
): readonly Explained[] {
  const places = placesOf(plan)
  const aliases = statements.map(() => new Map<string, Path>())
  // Written a second time, recording which part of the plan each alias serves.
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
    // A statement for one field serves that field only.
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
 * Adds the path to each node of a plan that reads or changes a relation or calls a function: that of its alias if the
 * statement gave one, else that of its parent node.
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

/** The possible names of a node in its statement; a CTE is named at its parent: `CTE s3`. */
function namesOf({ Alias: alias, 'Subplan Name': subplan }: Readonly<Record<string, unknown>>): readonly string[] {
  const own = typeof alias === 'string' ? [alias, aliasOf(alias)] : []
  return typeof subplan === 'string' && subplan.startsWith('CTE ') ? [...own, subplan.slice('CTE '.length)] : own
}

type Places = Map<Part, Path>

/** The parts of a plan, and their paths in the answer. */
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
