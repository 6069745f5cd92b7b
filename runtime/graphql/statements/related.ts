import { bare } from '../../sql/ident.ts'
import { isNotNull } from '../../sql/nulls.ts'
import { joined, select, sql, type Column, type JoinClause, type Sql } from '../../sql/tree.ts'
import type { Collection, OrderKey, RelatedKey } from '../plan/plan-nodes.ts'
import { longestCount, type Ordered } from './cursor.ts'
import { keyId, stepId } from './order.ts'
import { given, readFor, relationOf, type Scope, type Writer } from './source.ts'
import { isJoined, ofTenant, wayTo } from './tenants.ts'

/** Rows that are sorted or grouped by related rows (spec/graphql.md 17, `orderByRelated`, `groups`). */
export interface Joined {
  readonly scope: Scope
  /** The items of FROM after the rows. */
  readonly joins: readonly JoinClause[]
}

/**
 * The rows in scope joined with the related rows that the keys need. Each row stays one row.
 *
 * Related rows of a few rows are best counted row by row, those of many in one pass. If `picked` alone selects the
 * rows, that pass is written so that it counts for the picked rows only: Postgres then chooses.
 */
export function joinRelated(
  writer: Writer,
  scope: Scope,
  collection: Collection,
  keys: readonly OrderKey[],
  picked: Picked | null,
): Joined {
  const related = keys.flatMap((key) => (isOwn(key) ? [] : [key]))
  if (related.length === 0) return { scope, joins: [] }
  const joins: JoinClause[] = []
  const rows = new Map<string, Place>()
  const found = new Map<string, Ordered>()

  /** Rows that several keys use are joined once. */
  const rowOf = (key: Extract<RelatedKey, { kind: 'one' }>, here: Place): Place => {
    const path = here.path + stepId(key)
    const known = rows.get(path)
    if (known !== undefined) return known
    const bare = readFor(writer, key.entity, collection)
    const { there, on: equal, met } = wayTo(writer, key.join, here.scope, bare, collection)
    const always = here.present === null && key.always && here.scope.isMade !== true
    const on = joined([equal, ...met], ' and ')
    joins.push({ kind: always ? 'join' : 'left join', of: relationOf(there.builder), alias: there.alias, on })
    // A row that was found by values has them.
    const present = always ? null : isNotNull(there.column(key.join.foreign[0] ?? ''))
    const place = { scope: there, path, present }
    rows.set(path, place)
    return place
  }
  const countOf = (key: Extract<RelatedKey, { kind: 'count' }>, { scope: here, path, present }: Place): Ordered => {
    if (picked !== null && path === '' && key.join.repeats !== true) {
      const { join, value } = countInOnePass(writer, key, here, collection, picked)
      joins.push(join)
      return { ...counts, value, notNull: true }
    }
    const {
      there,
      joins: others,
      on,
      met,
    } = wayTo(writer, key.join, here, readFor(writer, key.entity, collection), collection)
    const alias = writer.alias('n')
    const counted = select([rowCount], {
      from: [{ of: relationOf(there.builder), alias: there.alias, joins: others }],
      where: [on, ...met],
    })
    joins.push({ kind: 'left join lateral', of: counted, alias, on: present ?? sql`true` })
    return { ...counts, value: sql`${alias}.n`, notNull: present === null }
  }
  const resolve = (key: OrderKey, here: Place): Ordered => {
    if (!isOwn(key)) return key.kind === 'count' ? countOf(key, here) : resolve(key.of, rowOf(key, here))
    const element = here.scope.ordered(key)
    return { ...element, notNull: element.notNull && here.present === null }
  }
  for (const key of related) {
    if (!found.has(keyId(key))) found.set(keyId(key), resolve(key, { scope, path: '', present: null }))
  }
  const ordered = (key: OrderKey): Ordered =>
    (typeof key === 'string' ? undefined : found.get(keyId(key))) ?? scope.ordered(key)
  return { scope: { ...scope, ordered }, joins }
}

/** Whether it is a key of the row itself. */
const isOwn = (key: OrderKey): key is Exclude<OrderKey, RelatedKey> =>
  typeof key === 'string' || key.kind === 'rank' || key.kind === 'type'

/** The condition for a row to be sorted; null if all of them are. */
export type Picked = (scope: Scope) => Sql | null

function countInOnePass(
  writer: Writer,
  { entity, join }: Extract<RelatedKey, { kind: 'count' }>,
  here: Scope,
  collection: Collection,
  picked: Picked,
): { readonly join: JoinClause; readonly value: Sql } {
  const target = readFor(writer, entity, collection)
  const row = { ...readFor(writer, here.entity, collection), tenant: here.tenant }
  const way = wayTo(writer, join, row, target, collection)
  const { there } = way
  const alias = writer.alias('n')
  const condition = picked(row)
  const rows = select([], {
    from: [{ of: relationOf(row.builder), alias: row.alias }],
    where: [...given([way.on, condition]), ...ofTenant(row)],
  })
  const near = join.through?.[0]?.near ?? join.foreign
  const values = near.map((name) => way.nearest.column(name))
  const keys = values.map((value, index) => ({ value, as: bare('k', index + 1) }))
  const counted = select([...keys, rowCount], {
    from: [{ of: relationOf(there.builder), alias: there.alias, joins: way.joins }],
    // Without a condition a membership test would only cost.
    where: [...(condition === null ? way.counted : [sql`exists ${rows}`]), ...way.met, ...ofTenant(there)],
    groupBy: values,
  })
  const on = joined(
    join.local.map((name, index) =>
      isJoined(way.nearest, near[index] ?? '', sql`${alias}.${bare('k', index + 1)}`, here, name),
    ),
    ' and ',
  )
  return { join: { kind: 'left join', of: counted, alias, on }, value: sql`coalesce(${alias}.n, 0)` }
}

const rowCount: Column = { value: sql`count(*)`, as: bare('n') }

/** A row on the path to a key's value. */
interface Place {
  readonly scope: Scope
  readonly path: string
  /** The condition that the row exists; null if it always does. */
  readonly present: Sql | null
}

const counts: Omit<Ordered, 'value' | 'notNull'> = {
  isArray: false,
  operand: (value) => sql`${value}::int8`,
  cursor: (value) => value,
  longest: longestCount,
}
