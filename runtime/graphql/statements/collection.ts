import type { EntityFacts } from '../../contract/manifest.ts'
import { aloneItems, createItems, object, objectFrom, type Items, type Pair } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import type {
  Collection,
  ConnectionMember,
  EdgeMember,
  OrderKey,
  OrderTerm,
  PageInfoMember,
  Row,
} from '../plan/types.ts'
import { cursorText } from './cursor.ts'
import { gather, type Made } from './gather.ts'
import { matchingRows, type Matching, type Source } from './matching.ts'
import { reversed, sameKey, withoutRepeats } from './order.ts'
import { scanRows } from './scan.ts'
import { carriedScope, type Scope, type Writer } from './source.ts'
import { aggregateMember, writeTotals, type TotalsSql } from './totals.ts'

/**
 * A connection as one value that becomes an object. Up to three sub-selects feed it: the page (w), figures over all matching rows
 * (u), and the first of all rows, which tells whether the page begins there; each is written only when something selected needs it.
 */
export function collectionObject(writer: Writer, collection: Collection, source: Source): string {
  const needs = needsOf(collection, source)
  const reads = Number(needs.page) + Number(needs.totals) + Number(needs.membership)
  const matching = matchingRows(writer, collection, source, reads)
  const scan = collection.page.backward ? reversed(collection.order) : collection.order
  const page = needs.page ? writePage(writer, collection, needs, matching, scan) : null
  const totals = needs.totals ? writeTotals(writer, collection, matching) : null
  const from = [page?.from ?? null, totals?.from ?? null].filter((item) => item !== null)
  const items = from.length === 0 ? aloneItems : createItems(() => writer.alias('o'))
  const context: Context = { writer, collection, scan, matching, page, totals, needs, items }
  const pairs = collection.members.map((member): Pair => [member.key, connectionMember(context, member)])
  return matching.wrap(from.length === 0 ? object(pairs) : objectFrom(pairs, `${from.join(', ')}${items.from()}`))
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
  /** Some rows may have no key; they are counted and not shown (spec/graphql.md 5.8). */
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
  readonly items: Items
}

interface PageSql {
  /** Its item of FROM; null where nothing needs one. */
  readonly from: string | null
  /** By edges member: the array of its edges. */
  readonly edges: ReadonlyMap<ConnectionMember, string>
  /** How many rows were read, where one is read to look ahead or the page's ends are needed. */
  readonly count: string
  /** The value of a key in the row at this position, where the page's ends are needed. */
  readonly valueAt: (key: OrderKey, index: string) => string
  /** The cursor of that row. */
  readonly cursor: (index: string) => string
}

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
  writer.note(outer, collection)
  const alias = writer.alias('w')
  const carried = carriedScope(scanned.scope, outer)

  const items = itemsFor(writer, collection, needs)
  const shown = withinPage(collection, needs, outer)
  const members = page.limit === 0 ? [] : collection.members.filter((member) => member.kind === 'edges')
  const edges = members.map((member): Made => {
    const pairs = member.members.map((part): Pair => [
      part.key,
      edgeMember(writer, collection, part, carried.scope, items),
    ])
    const keyed = needs.keyless ? `${carried.scope.column(collection.entity.key[0] ?? '')} is not null` : null
    return { value: items.object(pairs), condition: bothOf(shown, keyed) }
  })
  const ends = needs.ends ? withoutRepeats(order) : []
  const values = ends.map(({ column }): Made => ({ value: plainValue(carried.scope, column), condition: shown }))

  const rows = scanned.rows(carried, page.limit + (needs.lookahead ? 1 : 0))
  const forward = page.backward ? ' order by rn desc' : ''
  const numbered = needs.numbered ? `(select q.*, row_number() over () as rn from ${rows} q${forward})` : rows
  const counted = needs.lookahead || needs.ends
  const { from, arrays, count } = gather(alias, [...edges, ...values], counted, `${numbered} ${outer}${items.from()}`)
  const valueAt = (key: OrderKey, index: string): string =>
    `${arrays[edges.length + ends.findIndex((term) => sameKey(term.column, key))]}[${index}]`
  const cursor = (index: string): string =>
    cursorText(
      order.map(({ column }) => {
        const { cursor, longest } = carried.scope.ordered(column)
        return { value: cursor(valueAt(column, index)), longest }
      }),
    )
  return { from, edges: new Map(members.map((member, index) => [member, arrays[index] ?? ''])), count, valueAt, cursor }
}

/** An array of arrays would lose its shape; those values travel as jsonb, which is how cursors show them anyway. */
function plainValue(scope: Scope, key: OrderKey): string {
  const { value, isArray } = scope.ordered(key)
  return isArray ? `to_jsonb(${value})` : value
}

/** Rows come in forward order; where they are numbered, this leaves out the one that was read to look ahead. */
const withinPage = ({ page }: Collection, needs: Needs, alias: string): string | null =>
  needs.numbered && needs.lookahead ? `${alias}.rn <= ${page.limit}` : null

const bothOf = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? (left ?? right) : `${left} and ${right}`

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
      case 'computed-value':
      case 'computed-void':
      case 'computed-composite':
      case 'computed-row':
      case 'computed-set':
        return true
      case 'typename':
      case 'node-id':
      case 'column':
      case 'composite':
        return false
    }
  })

function edgeMember(writer: Writer, collection: Collection, member: EdgeMember, scope: Scope, items: Items): string {
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'cursor':
      return cursorText(
        collection.order.map(({ column }) => {
          const { value, cursor, longest } = scope.ordered(column)
          return { value: cursor(value), longest }
        }),
      )
    case 'node':
      return writer.row(writer, member.row, scope, items.object)
  }
}

function connectionMember(context: Context, member: ConnectionMember): string {
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'totalCount':
      return `${totalsOf(context).alias}.n`
    case 'aggregate':
      return context.items.object(
        member.members.map((part): Pair => [part.key, aggregateMember(totalsOf(context), part, context.items)]),
      )
    case 'pageInfo':
      return context.items.object(member.members.map((part): Pair => [part.key, pageInfoMember(context, part)]))
    case 'edges':
      return shownEdges(context, member)
  }
}

/** Written whenever a member needs them, see needsOf. */
function totalsOf({ totals }: Context): TotalsSql {
  if (totals === null) throw new Error('a figure was selected and not written')
  return totals
}

function shownEdges({ collection, page, needs }: Context, member: ConnectionMember): string {
  const edges = page?.edges.get(member)
  if (edges === undefined) return `'[]'::json`
  return needs.lookahead && !needs.numbered ? `${edges}[1:${collection.page.limit}]` : edges
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
      if (counts) return `${page?.count} > ${limit}`
      return needs.membership ? beginsLater(context) : 'false'
    }
    case 'startCursor':
    case 'endCursor': {
      if (limit === 0) return 'null::text'
      const index = member.kind === 'startCursor' ? '1' : lastShown(context)
      return `case when ${page?.count} > 0 then ${page?.cursor(index)} end`
    }
  }
}

/** Position of the page's last row in the arrays of order values. */
const lastShown = ({ page, collection }: Context): string => `least(${page?.count}, ${collection.page.limit})`

/**
 * Whether the page has rows and the first row of all, in the order in which they are read, is not among them
 * (spec/graphql.md 5.7).
 */
function beginsLater(context: Context): string {
  const { writer, collection, matching, scan, page } = context
  const scanned = scanRows(writer, collection, matching, scan, null)
  const alias = writer.alias('f')
  const carried = carriedScope(scanned.scope, alias)
  const { key } = collection.entity
  const there = key.map((name) => plainValue(carried.scope, name))
  const index = collection.page.backward ? lastShown(context) : '1'
  const here = key.map((name) => page?.valueAt(name, index))
  const first = `${scanned.rows(carried, 1)} ${alias}`
  return `(${page?.count} > 0 and exists (select from ${first} where (${there.join(', ')}) is distinct from (${here.join(', ')})))`
}
