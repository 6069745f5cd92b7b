import { bare } from '../../sql/ident.ts'
import { asItems, object, objectFrom, type MakeObject } from '../../sql/json.ts'
import { literal, select, sql, type From, type Ident, type Pair, type Sql } from '../../sql/tree.ts'
import type { Collection, ConnectionMember, PageInfoMember, Row } from '../plan/plan-nodes.ts'
import { rowsOnPage } from './parameters.ts'
import { given, type Writer } from './source.ts'
import { aggregateMember, type TotalsSql } from './totals.ts'

/** The parts of a connection, independent of the source of its rows. */

export interface Needs {
  readonly page: boolean
  readonly totals: boolean
  /** One row more than the page is read, to know whether there are more. */
  readonly lookahead: boolean
  /** A query must find out whether the page begins where the collection begins. */
  readonly membership: boolean
  /** Order values of the page's first and last row are needed. */
  readonly ends: boolean
  /** Rows are numbered: they are read in reverse or are expensive. */
  readonly numbered: boolean
}

export function needsOf(collection: Collection): Needs {
  const { page, members } = collection
  const info = members.flatMap((member) => (member.kind === 'pageInfo' ? member.members : []))
  const asks = (kind: PageInfoMember['kind']): boolean => info.some((member) => member.kind === kind)
  const edges = members.flatMap((member) => (member.kind === 'edges' ? [member] : []))
  const lookahead = asks(page.backward ? 'hasPreviousPage' : 'hasNextPage')
  const positioned = page.cursor !== null || page.offset !== null
  const membership = positioned && page.limit > 0 && asks(page.backward ? 'hasNextPage' : 'hasPreviousPage')
  const cursors = page.limit > 0 && (asks('startCursor') || asks('endCursor'))
  const costly = edges.some((member) => member.members.some((inner) => 'row' in inner && isNested(inner.row)))
  const ends = membership || cursors
  return {
    page: (edges.length > 0 && page.limit > 0) || lookahead || membership || cursors,
    totals: members.some((member) => member.kind === 'totalCount' || member.kind === 'aggregate'),
    lookahead,
    membership,
    ends,
    numbered: (page.backward && (edges.length > 0 || ends)) || (lookahead && costly),
  }
}

/** True if a member costs more than reading a column, so that it should not be made for hidden rows. */
const isNested = (row: Row): boolean =>
  row.members.some(({ kind }) => kind !== 'column' && kind !== 'typename' && kind !== 'node-id')

export interface PageSql {
  /** Its item of FROM; null if not needed. */
  readonly from: From | null
  /** By edges member: the array of its edges. */
  readonly edges: ReadonlyMap<ConnectionMember, Sql>
  /** The number of rows read, if there is a lookahead row or the page's ends are needed. */
  readonly count: Sql
  /** The cursor of the row at this position, if the page's ends are needed. */
  readonly cursor: (index: Sql) => Sql
  /**
   * Whether that row, the first that was read, differs from the first of all, if that needs a query (spec/graphql.md
   * 5.7).
   */
  readonly beginsLater: (index: Sql) => Sql
}

export interface ConnectionSource {
  readonly writer: Writer
  readonly collection: Pick<Collection, 'members' | 'page'>
  readonly needs: Needs
  readonly page: PageSql | null
  readonly totals: TotalsSql | null
  /** The value of a member that an addition brings. */
  readonly added: (member: ConnectionMember) => Sql
}

interface Context extends ConnectionSource {
  readonly makeObject: MakeObject
}

export function connectionObject(connection: ConnectionSource): Sql {
  const { writer, collection, page, totals } = connection
  const from = given([page?.from ?? null, totals?.from ?? null])
  const makeObject = from.length === 0 ? object : asItems(() => writer.alias('o'))
  const pairs = collection.members.map((member): Pair => [
    member.key,
    connectionMember({ ...connection, makeObject }, member),
  ])
  return from.length === 0 ? object(pairs) : objectFrom(pairs, { from })
}

/** Rows in forward order and their number in reading order. */
export const numbered = (rows: Sql, backward: boolean): Sql =>
  select([{ value: sql`q.*` }, { value: sql`row_number() over ()`, as: bare('rn') }], {
    from: [{ of: rows, alias: bare('q') }],
    orderBy: backward ? [sql`rn desc`] : [],
  })

/** Rows come in forward order; if they are numbered, this removes the lookahead row. */
export const withinPage = ({ page }: Pick<Collection, 'page'>, needs: Needs, alias: Ident): Sql | null =>
  needs.numbered && needs.lookahead ? sql`${alias}.rn <= ${rowsOnPage(page)}` : null

/**
 * An item of FROM that calls a volatile function is not pulled up, so it would be evaluated for hidden rows too, such
 * as the lookahead row.
 */
export const objectsFor = (writer: Writer, { members }: Collection, { numbered, lookahead }: Needs): MakeObject =>
  numbered && lookahead && callsFunctions(members) ? object : asItems(() => writer.alias('o'))

export const callsFunctions = (members: readonly ConnectionMember[]): boolean =>
  members.some(
    (member) => member.kind === 'edges' && member.members.some((part) => 'row' in part && rowCallsFunctions(part.row)),
  )

const rowCallsFunctions = ({ members }: Row): boolean =>
  members.some((member) => {
    if (member.kind === 'one') return rowCallsFunctions(member.row)
    if (member.kind === 'union') return member.of.some(({ row }) => rowCallsFunctions(row))
    return member.kind === 'many' ? callsFunctions(member.collection.members) : 'function' in member
  })

function connectionMember(context: Context, member: ConnectionMember): Sql {
  if (member.kind === 'typename') return sql`${literal(member.name)}::text`
  if (member.kind === 'totalCount') return sql`${totalsOf(context).alias}.n`
  if (member.kind === 'aggregate')
    return context.makeObject(
      member.members.map((part): Pair => [part.key, aggregateMember(totalsOf(context), part, context.makeObject)]),
    )
  if (member.kind === 'pageInfo')
    return context.makeObject(member.members.map((part): Pair => [part.key, pageInfoMember(context, part)]))
  return member.kind === 'edges' ? shownEdges(context, member) : context.added(member)
}

const coreMembers: readonly string[] = ['typename', 'totalCount', 'aggregate', 'pageInfo', 'edges']

export const isAdded = ({ kind }: ConnectionMember): boolean => !coreMembers.includes(kind)

/** Present whenever a member needs them, see needsOf. */
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

/** Present whenever a member needs it, see needsOf. */
function pageOf({ page }: Context): PageSql {
  if (page === null) throw new Error('the page was asked about and not written')
  return page
}

/** Position of the page's last row in the arrays of order values. */
const lastShown = (context: Context): Sql =>
  sql`least(${pageOf(context).count}, ${rowsOnPage(context.collection.page)})`

/** Whether the page has rows, and begins after the collection's first row. */
function beginsLater(context: Context): Sql {
  const page = pageOf(context)
  const index = context.collection.page.backward ? lastShown(context) : sql`1`
  return sql`(${page.count} > 0 and ${page.beginsLater(index)})`
}
