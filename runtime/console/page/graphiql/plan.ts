/** Plans as EXPLAIN (FORMAT JSON) gives them (PostgreSQL manual, "Using EXPLAIN"), read for people. */

export type PlanNode = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is PlanNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The plan itself within `[{"Plan": {...}}]`; null: it is none. */
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
  /** What it does to what. */
  readonly name: string
  /** The place of the answer that it works for; null: none of its own. */
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
