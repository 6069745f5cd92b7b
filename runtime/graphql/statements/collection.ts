import type { EntityFacts } from '../../contract/manifest.ts'
import { bare } from '../../sql/ident.ts'
import { asItems, object, objectFrom, type MakeObject } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import { joined, select, sql, type From, type Ident, type Pair, type Sql } from '../../sql/tree.ts'
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
import { rowsOnPage } from './parameters.ts'
import { gather, type Made } from './gather.ts'
import { groupsArray } from './groups.ts'
import { matchingRows, type Matching, type Source } from './matching.ts'
import { reversed, sameKey, withoutRepeats } from './order.ts'
import { scanRows } from './scan.ts'
import { given, type Scope, type Writer } from './source.ts'
import { aggregateMember, writeTotals, type TotalsSql } from './totals.ts'

/**
 * A connection as one value that becomes an object. Up to three sub-selects feed it: the page (w), aggregates over all
 * matching rows (u), and the first of all rows, which shows whether the page begins there; each is written only when a
 * selected field needs it.
 */
export function collectionObject(writer: Writer, collection: Collection, source: Source): Sql {
  const needs = needsOf(collection, source)
  const groups = collection.members.filter(({ kind }) => kind === 'groups').length
  const reads = Number(needs.page) + Number(needs.totals) + Number(needs.membership) + groups
  const matching = matchingRows(writer, collection, source, reads)
  const scan = collection.page.backward ? reversed(collection.order) : collection.order
  const page = needs.page ? writePage(writer, collection, needs, matching, scan) : null
  const totals = needs.totals ? writeTotals(writer, collection, matching) : null
  const from = given([page?.from ?? null, totals?.from ?? null])
  const makeObject = from.length === 0 ? object : asItems(() => writer.alias('o'))
  const context: Context = { writer, collection, scan, matching, page, totals, needs, makeObject }
  const pairs = collection.members.map((member): Pair => [member.key, connectionMember(context, member)])
  return matching.wrap(from.length === 0 ? object(pairs) : objectFrom(pairs, { from }))
}

interface Needs {
  readonly page: boolean
  readonly totals: boolean
  /** One row more than the page holds is read, to know whether there are more. */
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
  const costly = edges.some((member) => member.members.some((inner) => 'row' in inner && isNested(inner.row)))
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
  readonly makeObject: MakeObject
}

interface PageSql {
  /** Its item of FROM; null where nothing needs one. */
  readonly from: From | null
  /** By edges member: the array of its edges. */
  readonly edges: ReadonlyMap<ConnectionMember, Sql>
  /** How many rows were read, where one is read to look ahead or the page's ends are needed. */
  readonly count: Sql
  /** The value of a key in the row at this position, where the page's ends are needed. */
  readonly valueAt: (key: OrderKey, index: Sql) => Sql
  /** The cursor of that row. */
  readonly cursor: (index: Sql) => Sql
}

function writePage(
  writer: Writer,
  collection: Collection,
  needs: Needs,
  matching: Matching,
  scan: readonly OrderTerm[],
): PageSql {
  const { page, order } = collection
  const limit = rowsOnPage(page, needs.lookahead ? 1 : 0)
  const { scope, rows } = scanRows(writer, collection, matching, scan, page, limit, 'p')
  writer.note(scope.alias, collection)
  const alias = writer.alias('w')

  const makeObject = objectsFor(writer, collection, needs)
  const shown = withinPage(collection, needs, scope.alias)
  const members = page.limit === 0 ? [] : collection.members.filter((member) => member.kind === 'edges')
  const edges = members.map((member): Made => {
    const pairs = member.members.map((part): Pair => [
      part.key,
      edgeMember(writer, collection, part, scope, makeObject),
    ])
    const keyed = needs.keyless ? sql`${scope.column(collection.entity.key[0] ?? '')} is not null` : null
    return { value: makeObject(pairs), condition: bothOf(shown, keyed) }
  })
  const ends = needs.ends ? withoutRepeats(order) : []
  const values = ends.map(({ column }): Made => ({ value: plainValue(scope, column), condition: shown }))

  const counted = needs.lookahead || needs.ends
  const pageRows = { of: needs.numbered ? numbered(rows, page.backward) : rows, alias: scope.alias }
  const { from, arrays, count } = gather(alias, [...edges, ...values], counted, pageRows)
  const valueAt = (key: OrderKey, index: Sql): Sql => {
    const place = edges.length + ends.findIndex((term) => sameKey(term.column, key))
    return sql`${arrays[place] ?? sql``}[${index}]`
  }
  const cursor = (index: Sql): Sql =>
    cursorText(
      order.map(({ column }) => {
        const { cursor, longest } = scope.ordered(column)
        return { value: cursor(valueAt(column, index)), longest }
      }),
    )
  return {
    from,
    edges: new Map(members.map((member, index) => [member, arrays[index] ?? sql``])),
    count,
    valueAt,
    cursor,
  }
}

/** Rows in forward order and the number that each was read as. */
const numbered = (rows: Sql, backward: boolean): Sql =>
  select([{ value: sql`q.*` }, { value: sql`row_number() over ()`, as: bare('rn') }], {
    from: [{ of: rows, alias: bare('q') }],
    orderBy: backward ? [sql`rn desc`] : [],
  })

/** An array of arrays would lose its shape; those values travel as jsonb, which is how cursors show them anyway. */
function plainValue(scope: Scope, key: OrderKey): Sql {
  const { value, isArray } = scope.ordered(key)
  return isArray ? sql`to_jsonb(${value})` : value
}

/** Rows come in forward order; where they are numbered, this leaves out the one that was read to look ahead. */
const withinPage = ({ page }: Collection, needs: Needs, alias: Ident): Sql | null =>
  needs.numbered && needs.lookahead ? sql`${alias}.rn <= ${rowsOnPage(page)}` : null

const bothOf = (left: Sql | null, right: Sql | null): Sql | null =>
  left === null || right === null ? (left ?? right) : sql`${left} and ${right}`

/**
 * An item of FROM that calls a volatile function is not dissolved, so it would be made for rows that are left out too, as for
 * the one that is read to look ahead.
 */
const objectsFor = (writer: Writer, { members }: Collection, { numbered, lookahead, keyless }: Needs): MakeObject =>
  ((numbered && lookahead) || keyless) && callsFunctions(members) ? object : asItems(() => writer.alias('o'))

const callsFunctions = (members: readonly ConnectionMember[]): boolean =>
  members.some(
    (member) => member.kind === 'edges' && member.members.some((part) => 'row' in part && rowCallsFunctions(part.row)),
  )

const rowCallsFunctions = ({ members }: Row): boolean =>
  members.some((member) => {
    switch (member.kind) {
      case 'one':
        return rowCallsFunctions(member.row)
      case 'union':
        return member.of.some(({ row }) => rowCallsFunctions(row))
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
      case 'headline':
      case 'composite':
        return false
    }
  })

function edgeMember(
  writer: Writer,
  collection: Collection,
  member: EdgeMember,
  scope: Scope,
  makeObject: MakeObject,
): Sql {
  switch (member.kind) {
    case 'typename':
      return sql`${literal(member.name)}::text`
    case 'cursor':
      return cursorText(
        collection.order.map(({ column }) => {
          const { value, cursor, longest } = scope.ordered(column)
          return { value: cursor(value), longest }
        }),
      )
    case 'node':
      return writer.row(writer, member.row, scope, makeObject)
    case 'between':
      return scope.between?.entity === member.row.entity
        ? writer.row(writer, member.row, scope.between, makeObject)
        : sql`null::json`
  }
}

function connectionMember(context: Context, member: ConnectionMember): Sql {
  switch (member.kind) {
    case 'typename':
      return sql`${literal(member.name)}::text`
    case 'totalCount':
      return sql`${totalsOf(context).alias}.n`
    case 'aggregate':
      return context.makeObject(
        member.members.map((part): Pair => [part.key, aggregateMember(totalsOf(context), part, context.makeObject)]),
      )
    case 'pageInfo':
      return context.makeObject(member.members.map((part): Pair => [part.key, pageInfoMember(context, part)]))
    case 'edges':
      return shownEdges(context, member)
    case 'groups':
      return groupsArray(context.writer, context.matching, member.groups, context.collection)
  }
}

/** Written whenever a member needs them, see needsOf. */
function totalsOf({ totals }: Context): TotalsSql {
  if (totals === null) throw new Error('a figure was selected and not written')
  return totals
}

function shownEdges({ collection, page, needs }: Context, member: ConnectionMember): Sql {
  const edges = page?.edges.get(member)
  if (edges === undefined) return sql`'[]'::json`
  return needs.lookahead && !needs.numbered ? sql`${edges}[1:${rowsOnPage(collection.page)}]` : edges
}

function pageInfoMember(context: Context, member: PageInfoMember): Sql {
  const { collection, needs } = context
  const { backward, limit } = collection.page
  switch (member.kind) {
    case 'typename':
      return sql`${literal(member.name)}::text`
    case 'hasNextPage':
    case 'hasPreviousPage': {
      const counts = (member.kind === 'hasNextPage') !== backward
      if (counts) return sql`${pageOf(context).count} > ${rowsOnPage(collection.page)}`
      return needs.membership ? beginsLater(context) : sql`false`
    }
    case 'startCursor':
    case 'endCursor': {
      if (limit === 0) return sql`null::text`
      const page = pageOf(context)
      const index = member.kind === 'startCursor' ? sql`1` : lastShown(context)
      return sql`case when ${page.count} > 0 then ${page.cursor(index)} end`
    }
  }
}

/** Written whenever a member needs it, see needsOf. */
function pageOf({ page }: Context): PageSql {
  if (page === null) throw new Error('the page was asked about and not written')
  return page
}

/** Position of the page's last row in the arrays of order values. */
const lastShown = (context: Context): Sql =>
  sql`least(${pageOf(context).count}, ${rowsOnPage(context.collection.page)})`

/**
 * Whether the page has rows and the first row of all, in the order in which they are read, is not among them
 * (spec/graphql.md 5.7).
 */
function beginsLater(context: Context): Sql {
  const { writer, collection, matching, scan } = context
  const page = pageOf(context)
  const { scope, rows } = scanRows(writer, collection, matching, scan, null, sql`1`, 'f')
  const { key } = collection.entity
  const there = key.map((name) => plainValue(scope, name))
  const index = collection.page.backward ? lastShown(context) : sql`1`
  const here = key.map((name) => page.valueAt(name, index))
  const isOther = sql`(${joined(there, ', ')}) is distinct from (${joined(here, ', ')})`
  const first = select([], { from: [{ of: rows, alias: scope.alias }], where: [isOther] })
  return sql`(${page.count} > 0 and exists ${first})`
}
