import type { EntityFacts } from '../../contract/manifest.ts'
import { createItems, jsonArray, jsonObject, jsonObjectFrom, type Items, type Pair } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import type { Collection, ConnectionMember, EdgeMember, OrderKey, OrderTerm, PageInfoMember, Row } from '../plan/types.ts'
import { matchingRows, type Matching, type Source } from './matching.ts'
import { reversed, sameKey, withoutRepeats } from './order.ts'
import { scanRows } from './scan.ts'
import { carriedScope, selectList, type Scope, type Writer } from './source.ts'
import { aggregateMember, writeTotals, type TotalsSql } from './totals.ts'

/**
 * A connection as one JSON expression. Up to three sub-selects feed it: the page (w), figures over all matching rows (u), and the
 * first of all rows, which tells whether the page begins there; each is written only when something selected needs it.
 */
export function collectionJson(writer: Writer, collection: Collection, source: Source): string {
  const needs = needsOf(collection, source)
  const reads = Number(needs.page) + Number(needs.totals) + Number(needs.membership)
  const matching = matchingRows(writer, collection, source, reads)
  const scan = collection.page.backward ? reversed(collection.order) : collection.order
  const page = needs.page ? writePage(writer, collection, needs, matching, scan) : null
  const totals = needs.totals ? writeTotals(writer, collection, matching) : null
  const context: Context = { writer, collection, scan, matching, page, totals, needs }
  const pairs = collection.members.map((member): Pair => [member.key, connectionMember(context, member)])
  const from = [page?.from, totals?.from].filter((item) => item !== undefined)
  const json = from.length === 0 ? jsonObject(pairs) : jsonObjectFrom(pairs, from.join(', '))
  return matching.wrap(json)
}

interface Needs {
  readonly page: boolean
  readonly totals: boolean
  /** One row more than the page holds is read, to tell whether there are more. */
  readonly lookahead: boolean
  /** Whether the page begins where the collection begins is asked and not known. */
  readonly membership: boolean
  /** Order values of the page's first and last row are needed. */
  readonly ends: boolean
  /** Some rows may have no key; they are counted and not shown (5.8). */
  readonly keyless: boolean
  /** Rows are numbered: they are read in reverse, cost much, or may lack a key. */
  readonly numbered: boolean
}

function needsOf(collection: Collection, source: Source): Needs {
  const { page, members } = collection
  const info = members.flatMap((member) => (member.kind === 'pageInfo' ? member.members : []))
  const asks = (kind: PageInfoMember['kind']): boolean => info.some((member) => member.kind === kind)
  const edges = members.flatMap((member) => (member.kind === 'edges' ? [member] : []))
  const lookahead = asks(page.backward ? 'hasPreviousPage' : 'hasNextPage')
  const positioned = page.cursor !== null || page.offset !== null
  const membership = positioned && page.limit > 0 && asks(page.backward ? 'hasNextPage' : 'hasPreviousPage')
  const cursors = page.limit > 0 && (asks('startCursor') || asks('endCursor'))
  const costly = edges.some((member) => member.members.some((inner) => inner.kind === 'node' && isNested(inner.row)))
  const keyless = edges.length > 0 && (source.isFunction || mayLackKey(collection.entity))
  const ends = membership || cursors
  return {
    page: (edges.length > 0 && page.limit > 0) || lookahead || membership || cursors,
    totals: members.some((member) => member.kind === 'totalCount' || member.kind === 'aggregate'),
    lookahead,
    membership,
    ends,
    keyless,
    numbered: (page.backward && (edges.length > 0 || ends)) || (lookahead && (costly || keyless)),
  }
}

/** Keys that a comment names may hold nulls. */
const mayLackKey = (entity: EntityFacts): boolean =>
  entity.columns.find((column) => column.column === entity.key[0])?.notNull !== true

/** True when a member costs more than reading a column, so that it should not be made for rows that are not shown. */
const isNested = (row: Row): boolean =>
  row.members.some(({ kind }) => kind !== 'column' && kind !== 'typename' && kind !== 'node-id')

interface Context {
  readonly writer: Writer
  readonly collection: Collection
  readonly scan: readonly OrderTerm[]
  readonly matching: Matching
  readonly page: PageSql | null
  readonly totals: TotalsSql | null
  readonly needs: Needs
}

interface PageSql {
  readonly from: string
  readonly alias: string
  /** By edges member: the array of its edges. */
  readonly edges: ReadonlyMap<ConnectionMember, string>
  /** The cursor of the row at this position, where the page's ends are needed. */
  readonly cursor: (index: string) => string
}

/** Position of a key in the order: the arrays of order values are named after it. */
const orderIndex = (order: readonly OrderTerm[], key: OrderKey): number =>
  order.findIndex((term) => sameKey(term.column, key))

function writePage(
  writer: Writer,
  collection: Collection,
  needs: Needs,
  matching: Matching,
  scan: readonly OrderTerm[],
): PageSql {
  const { page, order } = collection
  const scanned = scanRows(writer, collection, matching, scan, page)
  const outer = writer.alias('p')
  const alias = writer.alias('w')
  const carried = carriedScope(scanned.scope, outer)

  const items = itemsFor(writer, collection, needs)
  const edges = new Map<ConnectionMember, string>()
  const outputs: string[] = []
  for (const member of page.limit === 0 ? [] : collection.members) {
    if (member.kind !== 'edges') continue
    const name = `e${edges.size + 1}`
    edges.set(member, name)
    const json = items.json(
      member.members.map((part): Pair => [part.key, edgeMember(writer, collection, part, carried.scope, items)]),
    )
    outputs.push(`${collectEdges(json, collection, needs, carried.scope, outer)} as ${name}`)
  }
  if (needs.ends) {
    const shown = filterWhere([withinPage(collection, needs, outer)])
    outputs.push(
      ...withoutRepeats(order).map(
        ({ column }) => `array_agg(${plainValue(carried.scope, column)})${shown} as o${orderIndex(order, column) + 1}`,
      ),
    )
  }
  if (needs.lookahead || needs.ends) outputs.push('count(*) as n')

  const rows = scanned.rows(carried, page.limit + (needs.lookahead ? 1 : 0))
  const forward = page.backward ? ' order by rn desc' : ''
  const numbered = needs.numbered ? `(select q.*, row_number() over () as rn from ${rows} q${forward})` : rows
  const cursor = (index: string): string =>
    cursorText(
      order.map(({ column }) => carried.scope.ordered(column).cursor(`${alias}.o${orderIndex(order, column) + 1}[${index}]`)),
    )
  const from = `(select ${selectList(outputs)} from ${numbered} ${outer}${items.from()}) ${alias}`
  return { from, alias, edges, cursor }
}

/** An array of arrays would lose its shape; those values travel as jsonb, which is how cursors show them anyway. */
function plainValue(scope: Scope, key: OrderKey): string {
  const { value, isArray } = scope.ordered(key)
  return isArray ? `to_jsonb(${value})` : value
}

function collectEdges(json: string, collection: Collection, needs: Needs, scope: Scope, alias: string): string {
  const keyed = needs.keyless ? `${scope.column(collection.entity.key[0] ?? '')} is not null` : null
  return `array_agg(${json})${filterWhere([withinPage(collection, needs, alias), keyed])}`
}

/** Rows come in forward order; where they are numbered, this leaves out the one that was read to look ahead. */
const withinPage = ({ page }: Collection, needs: Needs, alias: string): string | null =>
  needs.numbered && needs.lookahead ? `${alias}.rn <= ${page.limit}` : null

function filterWhere(conditions: readonly (string | null)[]): string {
  const given = conditions.filter((condition) => condition !== null)
  return given.length === 0 ? '' : ` filter (where ${given.join(' and ')})`
}

/** Objects by themselves: what they call is only called for rows that are shown. */
const aloneItems: Items = { object: jsonObject, json: jsonObject, from: () => '' }

/**
 * An item of FROM that calls a volatile function is not dissolved, so it would be made for rows that are left out too, as for
 * the one that is read to look ahead.
 */
const itemsFor = (writer: Writer, { members }: Collection, { numbered, lookahead, keyless }: Needs): Items =>
  ((numbered && lookahead) || keyless) && callsFunctions(members) ? aloneItems : createItems(() => writer.alias('o'))

const callsFunctions = (members: readonly ConnectionMember[]): boolean =>
  members.some(
    (member) =>
      member.kind === 'edges' && member.members.some((part) => part.kind === 'node' && rowCallsFunctions(part.row)),
  )

const rowCallsFunctions = ({ members }: Row): boolean =>
  members.some((member) => {
    switch (member.kind) {
      case 'one':
        return rowCallsFunctions(member.row)
      case 'many':
        return callsFunctions(member.collection.members)
      default:
        return member.kind.startsWith('computed-')
    }
  })

function edgeMember(
  writer: Writer,
  collection: Collection,
  member: EdgeMember,
  scope: Scope,
  items: Items,
): string {
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'cursor':
      return cursorText(
        collection.order.map(({ column }) => {
          const { value, cursor } = scope.ordered(column)
          return cursor(value)
        }),
      )
    case 'node':
      return writer.row(writer, member.row, scope, items.object)
  }
}

/**
 * Text of a cursor (5.5): base64, without the line breaks that Postgres puts in. Made as json, which takes half the time of
 * jsonb; elements are of types that print the same in both.
 */
const cursorText = (values: readonly string[]): string =>
  `replace(encode(json_send(${jsonArray(values)}), 'base64'), E'\\n', '')`

function connectionMember(context: Context, member: ConnectionMember): string {
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'totalCount':
      return `${totalsOf(context).alias}.n`
    case 'aggregate':
      return jsonObject(member.members.map((part): Pair => [part.key, aggregateMember(totalsOf(context), part)]))
    case 'pageInfo':
      return jsonObject(member.members.map((part): Pair => [part.key, pageInfoMember(context, part)]))
    case 'edges':
      return edgesJson(context, member)
  }
}

/** Written whenever a member needs them, see needsOf. */
function totalsOf({ totals }: Context): TotalsSql {
  if (totals === null) throw new Error('a figure was selected and not written')
  return totals
}

function edgesJson({ collection, page, needs }: Context, member: ConnectionMember): string {
  const name = page?.edges.get(member)
  if (page === null || name === undefined) return `'[]'::json`
  const array = `${page.alias}.${name}`
  const shown = needs.lookahead && !needs.numbered ? `${array}[1:${collection.page.limit}]` : array
  return `coalesce(${shown}, '{}')`
}

function pageInfoMember(context: Context, member: PageInfoMember): string {
  const { collection, page, needs } = context
  const { backward, limit } = collection.page
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'hasNextPage':
    case 'hasPreviousPage': {
      const counts = (member.kind === 'hasNextPage') !== backward
      if (counts) return `${page?.alias}.n > ${limit}`
      return needs.membership ? beginsLater(context) : 'false'
    }
    case 'startCursor':
    case 'endCursor': {
      if (limit === 0) return 'null::text'
      const index = member.kind === 'startCursor' ? '1' : lastShown(context)
      return `case when ${page?.alias}.n > 0 then ${page?.cursor(index)} end`
    }
  }
}

/** Position of the page's last row in the arrays of order values. */
const lastShown = ({ page, collection }: Context): string => `least(${page?.alias}.n, ${collection.page.limit})`

/** Whether the page has rows and the first row of all, in the order in which they are read, is not among them (5.7). */
function beginsLater(context: Context): string {
  const { writer, collection, matching, scan, page } = context
  const scanned = scanRows(writer, collection, matching, scan, null)
  const alias = writer.alias('f')
  const carried = carriedScope(scanned.scope, alias)
  const { key } = collection.entity
  const there = key.map((name) => plainValue(carried.scope, name))
  const index = collection.page.backward ? lastShown(context) : '1'
  const here = key.map((name) => `${page?.alias}.o${orderIndex(collection.order, name) + 1}[${index}]`)
  const first = `${scanned.rows(carried, 1)} ${alias}`
  return `(${page?.alias}.n > 0 and exists (select from ${first} where (${there.join(', ')}) is distinct from (${here.join(', ')})))`
}
