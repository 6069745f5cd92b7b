/** Plans of EXPLAIN (FORMAT JSON) (PostgreSQL manual, "Using EXPLAIN"), for display. */

/** A statement of `extensions.explain` (spec/graphql.md 17). */
export interface Explained {
  readonly paths: readonly (readonly string[])[]
  readonly statement: string
  readonly parameters: readonly (string | null)[]
  readonly variables: readonly (string | null)[]
  readonly plan: unknown
}

export type PlanNode = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is PlanNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The plan within `[{"Plan": {...}}]`; null: it is not a plan. */
export function rootOf(plan: unknown): PlanNode | null {
  const [first] = Array.isArray(plan) ? (plan as readonly unknown[]) : []
  const root = isNode(first) ? first['Plan'] : null
  return isNode(root) ? root : null
}

export function childrenOf(node: PlanNode): readonly PlanNode[] {
  const plans = node['Plans']
  return Array.isArray(plans) ? plans.filter(isNode) : []
}

export interface PlanFacts {
  /** Node type and object. */
  readonly name: string
  /** The path of the answer that it serves; null: none. */
  readonly path: string | null
  readonly conditions: readonly string[]
  readonly cost: string
}

const conditionKeys = ['Index Cond', 'Recheck Cond', 'Hash Cond', 'Merge Cond', 'Join Filter', 'Filter', 'Sort Key']

export function factsOf(node: PlanNode): PlanFacts {
  const path = node['GraphQL Path']
  const source = node['Relation Name'] ?? node['Function Name'] ?? node['CTE Name'] ?? null
  const index = node['Index Name'] ?? null
  const name = [node['Node Type'], source && `on ${String(source)}`, index && `by ${String(index)}`]
  return {
    name: name.filter((part) => part !== null).join(' '),
    path: Array.isArray(path) ? path.join('.') : null,
    conditions: conditionKeys.flatMap((key) => (key in node ? [`${key}: ${String(node[key])}`] : [])),
    cost: `cost ${String(node['Total Cost'])}, ${String(node['Plan Rows'])} rows`,
  }
}
