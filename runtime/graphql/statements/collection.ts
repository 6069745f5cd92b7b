import type { MakeObject } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import { joined, select, sql, type Pair, type Sql } from '../../sql/tree.ts'
import type { Collection, EdgeMember, OrderKey, OrderTerm } from '../plan/plan-nodes.ts'
import { connectionObject, needsOf, numbered, objectsFor, withinPage, type Needs, type PageSql } from './connection.ts'
import { cursorText } from './cursor.ts'
import { gather, type Made } from './gather.ts'
import { groupsArray } from './groups.ts'
import { matchingRows, type Matching, type Source, scanRows } from './matching.ts'
import { reversed, sameKey, withoutRepeats } from './order.ts'
import { rowsOnPage } from './parameters.ts'
import type { Scope, Writer } from './source.ts'
import { writeTotals } from './totals.ts'

/**
 * A connection as one value that becomes an object. It is based on up to three sub-selects: the page (w), aggregates
 * over all matching rows (u), and the first of all rows, which shows whether the page begins there; each is written
 * only if a selected field needs it.
 */
export function collectionObject(writer: Writer, collection: Collection, source: Source): Sql {
  const needs = needsOf(collection)
  const groups = collection.members.filter(({ kind }) => kind === 'groups').length
  const reads = Number(needs.page) + Number(needs.totals) + Number(needs.membership) + groups
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
      groups: (of) => groupsArray(writer, matching, of, collection),
    }),
  )
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
