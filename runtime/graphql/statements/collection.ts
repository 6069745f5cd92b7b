import type { MakeObject } from '../../sql/json.ts'
import { literal, joined, select, sql, type Pair, type Sql, type From, type Ident } from '../../sql/tree.ts'
import type { Collection, ConnectionMember, EdgeMember, OrderKey, OrderTerm } from '../plan/plan-nodes.ts'
import {
  connectionObject,
  isAdded,
  needsOf,
  numbered,
  objectsFor,
  withinPage,
  type Needs,
  type PageSql,
} from './connection.ts'
import { cursorText } from './cursor.ts'
import { matchingRows, type Matching, type Source, scanRows } from './matching.ts'
import { reversed, sameKey, withoutRepeats } from './order.ts'
import { rowsOnPage } from './parameters.ts'
import { type Scope, type Writer, given } from './source.ts'
import { writeTotals } from './totals.ts'
import { bare } from '../../sql/ident.ts'

/**
 * A connection as one value that becomes an object. It is based on up to three sub-selects: the page (w), aggregates
 * over all matching rows (u), and the first of all rows, which shows whether the page begins there; each is written
 * only if a selected field needs it.
 */
export function collectionObject(writer: Writer, collection: Collection, source: Source): Sql {
  const needs = needsOf(collection)
  const added = collection.members.filter(isAdded).length
  const reads = Number(needs.page) + Number(needs.totals) + Number(needs.membership) + added
  const matching = matchingRows(writer, collection, source, reads)
  const scan = collection.page.backward ? reversed(collection.order) : collection.order
  const page = needs.page ? writePage(writer, collection, needs, matching, scan) : null
  const totals = needs.totals ? writeTotals(writer, collection, matching) : null
  return matching.wrap(
    connectionObject({
      writer,
      collection,
      needs,
      page,
      totals,
      added: (member) => addedValue(writer, matching, member, collection),
    }),
  )
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** A member of a connection that is made of all rows that match; null: one of another kind. */
    readonly connectionValue?: (...of: Parameters<typeof addedValue>) => Sql | null
  }
}

function addedValue(writer: Writer, matching: Matching, member: ConnectionMember, collection: Collection): Sql {
  for (const { connectionValue } of writer.engine.additions.list) {
    const value = connectionValue?.(writer, matching, member, collection) ?? null
    if (value !== null) return value
  }
  throw new Error(`nothing writes the member ${member.key} of a connection`)
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
    return { value: makeObject(pairs), condition: shown }
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
    cursor,
    beginsLater: (index) => {
      const first = scanRows(writer, collection, matching, scan, null, sql`1`, 'f')
      const { key } = collection.entity
      const there = key.map((name) => plainValue(first.scope, name))
      const here = key.map((name) => valueAt(name, index))
      const isOther = sql`(${joined(there, ', ')}) is distinct from (${joined(here, ', ')})`
      return sql`exists ${select([], { from: [{ of: first.rows, alias: first.scope.alias }], where: [isOther] })}`
    },
  }
}

/** An array of arrays would lose its shape; those values become jsonb, which is their form in cursors anyway. */
function plainValue(scope: Scope, key: OrderKey): Sql {
  const { value, isArray } = scope.ordered(key)
  return isArray ? sql`to_jsonb(${value})` : value
}

function edgeMember(
  writer: Writer,
  collection: Collection,
  member: EdgeMember,
  scope: Scope,
  makeObject: MakeObject,
): Sql {
  if (member.kind === 'typename') return sql`${literal(member.name)}::text`
  if (member.kind === 'node') return writer.row(writer, member.row, scope, makeObject)
  if (member.kind === 'between')
    return scope.between?.entity === member.row.entity
      ? writer.row(writer, member.row, scope.between, makeObject)
      : sql`null::json`
  return cursorText(
    collection.order.map(({ column }) => {
      const { value, cursor, longest } = scope.ordered(column)
      return { value: cursor(value), longest }
    }),
  )
}

export interface Made {
  readonly value: Sql
  /** Rows that do not meet it give no value; null: all rows give one. */
  readonly condition: Sql | null
}

interface Gathered {
  /** The aggregated row as an item of FROM; null if not needed. */
  readonly from: From | null
  /** An array for each made value, in order; empty without rows. */
  readonly arrays: readonly Sql[]
  /** The number of rows, only if selected. */
  readonly count: Sql
}

/**
 * Collects the values made of rows in arrays, in the order of the rows. ARRAY(sub-select) avoids the set-up of an
 * aggregate, which takes some microseconds.
 *
 * @param alias a name that nothing else in the statement has
 */
export function gather(alias: Ident, made: readonly Made[], counted: boolean, rows: From): Gathered {
  const [only, ...others] = made
  const from = [rows]
  if (only === undefined && !counted) return { from: null, arrays: [], count: sql`` }
  if (only !== undefined && others.length === 0 && !(counted && only.condition !== null)) {
    const array = sql`array${select([{ value: only.value }], { from, where: given([only.condition]) })}`
    if (!counted) return { from: null, arrays: [array], count: sql`` }
    const as = bare('a', 1)
    // Without OFFSET the sub-select would be pulled up, and the array made wherever it is used.
    return {
      from: { of: select([{ value: array, as }], { offset: sql`0` }), alias },
      arrays: [sql`${alias}.${as}`],
      count: sql`cardinality(${alias}.${as})`,
    }
  }
  const lists = made.map(({ value, condition }, index) => ({
    value: sql`coalesce(array_agg(${value})${condition === null ? sql`` : sql` filter (where ${condition})`}, '{}')`,
    as: bare('a', index + 1),
  }))
  const columns = counted ? [...lists, { value: sql`count(*)`, as: bare('n') }] : lists
  return {
    from: { of: select(columns, { from }), alias },
    arrays: lists.map(({ as }) => sql`${alias}.${as}`),
    count: sql`${alias}.n`,
  }
}
