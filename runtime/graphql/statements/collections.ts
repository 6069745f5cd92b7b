import { bare } from '../../sql/ident.ts'
import { alike, asItems, object, type MakeObject } from '../../sql/json.ts'
import {
  literal,
  joined,
  select,
  sql,
  written,
  type Column,
  type From,
  type Ident,
  type Pair,
  type Sql,
} from '../../sql/tree.ts'
import type { Collection, EdgeMember, OrderTerm, Page } from '../plan/plan-nodes.ts'
import {
  callsFunctions,
  connectionObject,
  needsOf,
  numbered,
  withinPage,
  type Needs,
  type PageSql,
} from './connection.ts'
import { cursorText } from './cursor.ts'
import { gather, type Made } from './collection.ts'
import { matchingRows, type Matching, scanRows } from './matching.ts'
import { orderBy, reversed, sameKey } from './order.ts'
import { rowsOnPage, valueParameter } from './parameters.ts'
import { relationOf, seenOutside, type Scope, type Writer } from './source.ts'
import type { TotalsSql } from './totals.ts'

/**
 * Rows of several relations in one order, page by page (spec/graphql.md 17.9). Of each relation one page is read, so
 * that an index serves each; the rows form a union with the columns of all relations side by side, and objects are made
 * only of the rows on the page.
 */

interface Member {
  readonly collection: Collection
  readonly matching: Matching
}

/** @param all with one page, and members that differ only in the rows of the edges */
export function collectionsObject(writer: Writer, all: readonly Collection[]): Sql {
  const [collection] = all
  if (collection === undefined) throw new Error('rows of no relation were asked for')
  const members = all.map((one): Member => {
    const of = relationOf(writer.engine.entity(one.entity.id))
    return {
      collection: one,
      matching: matchingRows(writer, one, { of, isFunction: false, volatile: false, parent: null }, 1),
    }
  })
  const needs = needsOfAll(all)
  return connectionObject({
    writer,
    collection,
    needs,
    page: needs.page ? writePage(writer, members, collection, needs) : null,
    totals: needs.totals ? writeTotal(writer, members) : null,
    added: () => {
      throw new Error('rows of several relations have no such member')
    },
  })
}

function needsOfAll(all: readonly Collection[]): Needs {
  const needs = all.map((one) => needsOf(one))
  const [first] = needs
  if (first === undefined) throw new Error('rows of no relation were asked for')
  return { ...first, numbered: needs.some(({ numbered: isNumbered }) => isNumbered) }
}

function writeTotal(writer: Writer, members: readonly Member[]): TotalsSql {
  const alias = writer.alias('u')
  const counts = members.map(({ matching }) => {
    const { scope: _scope, ...rows } = matching.read(writer.alias('t'), null, [])
    return select([{ value: sql`count(*)` }], rows)
  })
  return {
    from: { of: select([{ value: joined(counts, ' + '), as: bare('n') }]), alias },
    alias,
    figure: () => {
      throw new Error('rows of several relations have no figures')
    },
  }
}

interface Mixed {
  readonly rows: From & { readonly alias: Ident }
  /** A row of each relation in the outer scope. */
  readonly scopes: readonly Scope[]
  /** Selects the value of the row's own relation. */
  readonly choose: (values: readonly Sql[]) => Sql
}

/**
 * @param start the cursor; null begins with the first row of all
 * @param letter of the alias of the rows in the outer scope
 */
function mixRows(writer: Writer, members: readonly Member[], start: Page | null, limit: Sql, letter: string): Mixed {
  const alias = writer.alias(letter)
  const offset = start?.offset ? sql`${valueParameter(start.offset)}::int8` : null
  const most = offset === null ? limit : sql`${limit} + ${offset}`
  const parts = members.map(({ collection, matching }, place) => {
    const { entity, page } = collection
    const order = page.backward ? reversed(collection.order) : collection.order
    const from = start === null ? null : { cursor: page.cursor, offset: null }
    const { scope, rows } = scanRows(writer, collection, matching, order, from, most, 'p')
    writer.note(scope.alias, collection)
    const keyAt = order.length - entity.key.length
    const [common, key] = [order.slice(0, keyAt), order.slice(keyAt)]
    const { scope: seen, outlet } = seenOutside(scope, alias, sql`1`, `r${place}`)
    const values = common.map(({ column }, index) => ({ value: scope.ordered(column).value, as: bare('v', index + 1) }))
    return {
      entity,
      common,
      key,
      scope: withCommon(seen, alias, common),
      outlet,
      values,
      from: { of: rows, alias: scope.alias },
    }
  })
  const [first] = parts
  if (first === undefined) throw new Error('rows of no relation were asked for')
  const arms = parts.map(({ values, outlet, from }) => {
    const columns = parts.map((other): Column => ({
      value: other.outlet === outlet ? outlet : { kind: 'vacancy', outlet: other.outlet },
    }))
    return select([...values, ...columns], { from: [from] })
  })
  const isNotNull = (place: number): boolean =>
    parts.every(({ scope, common }) => scope.ordered(common[place]?.column ?? '').notNull)
  const ofAll: Scope = {
    ...first.scope,
    ordered: (key) => ({
      ...first.scope.ordered(key),
      notNull: isNotNull(first.common.findIndex(({ column }) => sameKey(column, key))),
    }),
  }
  const order = [...orderBy(first.common, ofAll), ...parts.flatMap(({ key, scope }) => orderBy(key, scope))]
  const type = sql`${alias}.${bare('v', first.common.length)}`
  return {
    rows: { of: { kind: 'union', alias, arms, orderBy: order, limit, ...(offset !== null && { offset }) }, alias },
    scopes: parts.map(({ scope }) => scope),
    choose: (values) => {
      const cases = parts.map(
        ({ entity }, place) => sql`when ${literal(entity.name)} then ${values[place] ?? sql`null`}`,
      )
      return sql`case ${type} ${joined(cases, ' ')} end`
    },
  }
}

const withCommon = (scope: Scope, alias: Ident, common: readonly OrderTerm[]): Scope => ({
  ...scope,
  ordered: (key) => {
    const place = common.findIndex(({ column }) => sameKey(column, key))
    return place < 0 ? scope.ordered(key) : { ...scope.ordered(key), value: sql`${alias}.${bare('v', place + 1)}` }
  },
})

function writePage(writer: Writer, members: readonly Member[], collection: Collection, needs: Needs): PageSql {
  const { page } = collection
  const { rows, scopes, choose } = mixRows(writer, members, page, rowsOnPage(page, needs.lookahead ? 1 : 0), 'm')
  const alias = writer.alias('w')
  const shown = withinPage(collection, needs, rows.alias)
  // A function in FROM would also be called for rows of other relations.
  const calls = members.some((one) => callsFunctions(one.collection.members))
  const makeObject: MakeObject = calls ? object : asItems(() => writer.alias('o'))
  const cursor = choose(
    scopes.map((scope, place) =>
      cursorText(
        (members[place]?.collection.order ?? []).map(({ column }) => {
          const { value, cursor: printed, longest } = scope.ordered(column)
          return { value: printed(value), longest }
        }),
      ),
    ),
  )
  const edgeMember = (part: EdgeMember, edges: number, at: number): Sql => {
    switch (part.kind) {
      case 'typename':
        return sql`${literal(part.name)}::text`
      case 'cursor':
        return cursor
      case 'node':
        return choose(
          alike(
            scopes.map((scope, place) => {
              const own = edgesIn(members[place]?.collection)[edges]?.members[at]
              if (own?.kind !== 'node') throw new Error('an edge of one relation is like those of the others')
              return writer.row(writer, own.row, scope, makeObject)
            }),
          ),
        )
      case 'between':
        throw new Error('rows of several relations are reached through none')
    }
  }
  const shownEdges = page.limit === 0 ? [] : edgesIn(collection)
  const edges = shownEdges.map((edge, place): Made => ({
    value: makeObject(edge.members.map((part, at): Pair => [part.key, edgeMember(part, place, at)])),
    condition: shown,
  }))
  const ends = [...(needs.ends ? [cursor] : []), ...(needs.membership ? [choose(scopes.map(nodeIdOf))] : [])]
  const pageRows = needs.numbered ? { ...rows, of: numbered(rows.of, page.backward) } : rows
  const { from, arrays, count } = gather(
    alias,
    [...edges, ...ends.map((value): Made => ({ value, condition: shown }))],
    needs.lookahead || needs.ends,
    pageRows,
  )
  const endAt = (place: number, index: Sql): Sql => sql`${arrays[edges.length + place] ?? sql``}[${index}]`
  return {
    from,
    edges: new Map(shownEdges.map((edge, place) => [edge, arrays[place] ?? sql``])),
    count,
    cursor: (index) => endAt(0, index),
    beginsLater: (index) => {
      const first = mixRows(writer, members, null, sql`1`, 'f')
      const isOther = sql`${first.choose(first.scopes.map(nodeIdOf))} <> ${endAt(1, index)}`
      return sql`exists ${select([], { from: [first.rows], where: [isOther] })}`
    },
  }
}

const edgesIn = (collection: Collection | undefined) =>
  (collection?.members ?? []).flatMap((member) => (member.kind === 'edges' ? [member] : []))

/** The unique identity of a row among all relations. */
const nodeIdOf = (scope: Scope): Sql =>
  written(
    scope.builder.nodeId,
    scope.entity.key.map((name) => scope.column(name)),
  )
