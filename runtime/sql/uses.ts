import { bare } from './ident.ts'
import type { Carried, Outlet, Ident, Item, RowForm, Select, Sql } from './tree.ts'

/** The mutual needs of a statement's parts. */
export interface Uses {
  /** By outlet: the exported expressions, in the order of their first mention, and the column names. */
  readonly columns: ReadonlyMap<Outlet, ReadonlyMap<Sql, Ident>>
  /** The objects that become items of a select's FROM clause, inner ones first. */
  readonly items: ReadonlyMap<Select, readonly Item[]>
  readonly isItem: (item: Item) => boolean
}

/** The planning time of items grows with the square of their number; further objects are sub-selects. */
const mostItems = 32

/**
 * Walks once over a statement. An inner select is visited before its list; the order of a union, which uses the outer
 * names of its columns, comes last.
 */
export function findUses(statement: Select, rows: RowForm): Uses {
  const columns = new Map<Outlet, Map<Sql, Ident>>()
  const items = new Map<Select, Item[]>()
  const dissolved = new Set<Item>()
  const last: Sql[] = []
  /** By alias: outlets with one alias export columns of different names. */
  const counts = new Map<Ident, number>()

  const carry = ({ outlet, of, as }: Carried, within: Select): void => {
    const known = columns.get(outlet) ?? new Map<Sql, Ident>()
    if (known.has(of)) return
    visit(of, within)
    const count = (counts.get(outlet.alias) ?? 0) + 1
    known.set(of, as ?? bare('c', count))
    counts.set(outlet.alias, count)
    columns.set(outlet, known)
  }
  const addItem = (item: Item, within: Select): void => {
    if (dissolved.has(item)) return
    for (const [, value] of item.pairs) visit(value, within)
    const known = items.get(within) ?? []
    if (known.length === mostItems) return
    known.push(item)
    items.set(within, known)
    dissolved.add(item)
  }
  const visitSelect = (node: Select): void => {
    const visitAll = (nodes: readonly Sql[] = []): void => nodes.forEach((inner) => visit(inner, node))
    visitAll(node.with?.map(({ of }) => of))
    for (const { of, joins = [] } of node.from ?? []) {
      visit(of, node)
      for (const join of joins) visitAll([join.of, join.on])
    }
    visitAll(node.distinctOn)
    for (const { value } of node.columns) visit(value, node)
    visitAll(node.where)
    visitAll(node.groupBy)
    visitAll(node.having)
    visitAll(node.orderBy)
    if (node.offset !== undefined) visit(node.offset, node)
  }
  /** @param within the select whose FROM clause gets the objects */
  const visit = (node: Sql, within: Select): void => {
    if (typeof node === 'string') return
    switch (node.kind) {
      case 'parameter':
      case 'size':
      case 'outlet':
      case 'vacancy':
      case 'row':
        return
      case 'parts':
      case 'written':
        for (const inner of node.nodes) visit(inner, within)
        return
      case 'carried':
        return carry(node, within)
      case 'object':
        return visit(rows === 'json' ? node.json() : node.record, within)
      case 'item':
        if (rows === 'record') return addItem(node, within)
        for (const [, value] of node.pairs) visit(value, within)
        return
      case 'select':
        return visitSelect(node)
      case 'union':
        node.arms.forEach(visitSelect)
        last.push(...node.orderBy)
        if (node.offset !== undefined) visit(node.offset, within)
        return
    }
  }
  visitSelect(statement)
  for (const node of last) visit(node, statement)
  return { columns, items, isItem: (item) => dissolved.has(item) }
}
