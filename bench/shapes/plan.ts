/** A line with the facts of a plan from `explain (analyze, format json)`. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Sort Method'?: string
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const mostNames = 3

const counted = (names: readonly string[]): string => {
  const counts = [...new Set(names)].map((name) => [name, names.filter((other) => other === name).length] as const)
  const shown = counts.slice(0, mostNames).map(([name, times]) => (times === 1 ? name : `${times} × ${name}`))
  const more = counts.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`
}

export interface PlanSummary {
  readonly indexes: string
  /** Sequentially scanned tables. */
  readonly scanned: string
  /** Rows of the largest sort. */
  readonly sorted: number
  /** Rows that were read and discarded. */
  readonly removed: number
}

export const summaryOf = (plan: PlanNode): PlanSummary => {
  // A node that was never executed cost nothing.
  const nodes = nodesOf(plan).filter((node) => node['Actual Loops'] > 0)
  const sorts = nodes.filter((node) => node['Node Type'] === 'Sort')
  const rowsInto = (sort: PlanNode): number => Math.max(0, ...(sort.Plans ?? []).map((input) => input['Actual Rows']))
  return {
    indexes: counted(nodes.flatMap((node) => node['Index Name'] ?? [])),
    scanned: counted(nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : []))),
    sorted: Math.max(0, ...sorts.map(rowsInto)),
    removed: nodes.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops'], 0),
  }
}
