import type { OpenText } from '../contract/execution.ts'
import { columnsOf, object } from './json.ts'
import type {
  Outlet,
  Column,
  Cte,
  From,
  SizeHole,
  Item,
  Parameter,
  RowForm,
  Select,
  SelectList,
  PageSize,
  Sql,
  Union,
  Carried,
  Ident,
} from './tree.ts'
import { bare } from './ident.ts'

/** A statement as it is sent to Postgres. */
export interface Printed<Text extends string = string> {
  readonly text: Text
  /** The values of $1, $2, ... */
  readonly values: readonly unknown[]
  /** The holes for sizes from variables, in order; absent: none. */
  readonly holes?: readonly PlacedHole[]
}

/** A hole, and its position and length in the text for the variables that the statement was written for. */
export interface PlacedHole extends SizeHole {
  readonly from: number
  readonly to: number
}

/** Writes a statement that stays open for `extended`. */
export const printOpen = (statement: SelectList, rows: RowForm = 'record'): Printed<OpenText> => {
  const { text, ...others } = print(statement, rows)
  return { text: text as OpenText, ...others }
}

/**
 * An open statement with further columns and a condition. Statements are kept, prepared and passed between threads as
 * texts, and one is extended in several ways: of the tree they keep only the openness.
 */
export const extended = (text: OpenText, columns: readonly string[], condition: string): string =>
  `${[text, ...columns].join(', ')} where ${condition}`

/** A statement that is being printed. */
interface Printing extends Uses {
  readonly rows: RowForm
  /** The number of each parameter, by its value. */
  readonly numbers: Map<unknown, number>
  readonly sizes: PageSize[]
}

/** Prints a statement. Its parameters are numbered in the order of the text. */
export function print(statement: Select, rows: RowForm = 'record'): Printed {
  const printing: Printing = { ...findUses(statement, rows), rows, numbers: new Map(), sizes: [] }
  const text = printSelect(printing, statement)
  const values = [...printing.numbers.keys()]
  return printing.sizes.length === 0 ? { text, values } : { ...withSizes(text, printing.sizes), values }
}

function printSql(printing: Printing, node: Sql): string {
  if (typeof node === 'string') return node
  switch (node.kind) {
    case 'parameter':
      return placeholder(printing, node)
    case 'size':
      return `${mark}${printing.sizes.push(node) - 1}${mark}`
    case 'parts':
      return printList(printing, node.nodes, '')
    case 'written':
      return node.write(node.nodes.map((inner) => printSql(printing, inner)))
    case 'carried':
      return `${node.outlet.alias}.${printing.columns.get(node.outlet)?.get(node.of)}`
    case 'outlet':
      return printCarried(printing, node, (of) => of)
    case 'vacancy':
      return printCarried(printing, node.outlet, node.outlet.nullOf)
    case 'row':
      return printRow(printing, node.alias)
    case 'object':
      return printSql(printing, printing.rows === 'json' ? node.json() : node.record)
    case 'item':
      return printing.isItem(node) ? printRow(printing, node.alias) : printSql(printing, object(node.pairs))
    case 'select':
      return `(${printSelect(printing, node)})`
    case 'union':
      return printUnion(printing, node)
  }
}

function placeholder({ numbers }: Printing, { value }: Parameter): string {
  const number = numbers.get(value) ?? numbers.size + 1
  numbers.set(value, number)
  return `$${number}`
}

/** The cast makes one value of it; a bare alias could be the name of a column. */
const printRow = ({ rows }: Printing, alias: string): string =>
  rows === 'record' ? `(${alias}.*)::record` : `row_to_json(${alias}.*)`

function printCarried(printing: Printing, outlet: Outlet, valueOf: (of: Sql) => Sql): string {
  const used = [...(printing.columns.get(outlet) ?? [])]
  if (used.length === 0) return printSql(printing, outlet.otherwise)
  return used.map(([of, as]) => `${printSql(printing, valueOf(of))} as ${as}`).join(', ')
}

const printList = (printing: Printing, nodes: readonly Sql[], between = ', '): string =>
  nodes.map((node) => printSql(printing, node)).join(between)

/** A clause that is left out if it is empty. */
const printClause = (printing: Printing, word: string, nodes: readonly Sql[] = [], between = ', '): string =>
  nodes.length === 0 ? '' : ` ${word} ${printList(printing, nodes, between)}`

const printColumns = (printing: Printing, columns: readonly Column[]): string =>
  columns.map(({ value, as }) => ` ${printSql(printing, value)}${as === undefined ? '' : ` as ${as}`}`).join(',')

function printFrom(printing: Printing, { of, alias, joins = [] }: From): string {
  const text = (node: Sql): string => printSql(printing, node)
  const first = alias === undefined ? text(of) : `${text(of)} ${alias}`
  return first + joins.map((join) => ` ${join.kind} ${text(join.of)} ${join.alias} on ${text(join.on)}`).join('')
}

const printItem = (printing: Printing, { alias, pairs }: Item): string =>
  `, lateral (select${printColumns(printing, columnsOf(pairs))}) ${alias}`

const printWith = (printing: Printing, ctes: readonly Cte[]): string =>
  `with ${ctes.map(({ name, materialized, of }) => `${name} as ${materialized ? 'materialized ' : ''}${printSql(printing, of)}`).join(', ')} `

const printSelect = (printing: Printing, node: Select): string =>
  (node.with === undefined || node.with.length === 0 ? '' : printWith(printing, node.with)) +
  'select' +
  (node.distinctOn === undefined ? '' : ` distinct on (${printList(printing, node.distinctOn)})`) +
  printColumns(printing, node.columns) +
  (node.from === undefined ? '' : ` from ${node.from.map((from) => printFrom(printing, from)).join(', ')}`) +
  (printing.items.get(node) ?? []).map((item) => printItem(printing, item)).join('') +
  printClause(printing, 'where', node.where, ' and ') +
  printClause(printing, 'group by', node.groupBy) +
  printClause(printing, 'having', node.having, ' and ') +
  printClause(printing, 'order by', node.orderBy) +
  (node.limit === undefined ? '' : ` limit ${printSql(printing, node.limit)}`) +
  (node.offset === undefined ? '' : ` offset ${printSql(printing, node.offset)}`)

const printUnion = (printing: Printing, { alias, arms, orderBy, limit, offset }: Union): string =>
  `(select * from (${printList(printing, arms, ' union all ')}) ${alias}${printClause(printing, 'order by', orderBy)}` +
  ` limit ${printSql(printing, limit)}${offset === undefined ? '' : ` offset ${printSql(printing, offset)}`})`

/** A character that SQL text cannot contain: it marks the place of a size until the text is complete. */
const mark = '\0'

/** @param written contains the index of each size between two marks */
function withSizes(written: string, sizes: readonly PageSize[]): Pick<Printed, 'text' | 'holes'> {
  const holes: PlacedHole[] = []
  let text = ''
  written.split(mark).forEach((part, index) => {
    const size = index % 2 === 1 ? sizes[Number(part)] : undefined
    const from = text.length
    text += size?.rows ?? part
    if (size !== undefined) holes.push({ ...size.hole, from, to: text.length })
  })
  return { text, holes }
}

/** The mutual needs of a statement's parts. */
interface Uses {
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
function findUses(statement: Select, rows: RowForm): Uses {
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
