import { isDeepStrictEqual } from 'node:util'
import type { EntityFacts } from '../../contract/manifest.ts'
import { applied, joined, sql, trusted, type JoinClause, type Sql } from '../../sql/tree.ts'
import { comparedColumn } from '../plan/forms.ts'
import type { Filter, InsertRows, Join } from '../plan/types.ts'
import type { Value } from '../plan/values.ts'
import { ofDeleted } from './deleted.ts'
import { valueParameter } from './parameters.ts'
import { columnOf, readFor, relationOf, type Part, type Scope, type Writer } from './source.ts'

/**
 * Citus sends a statement to one server where each relation has the tenant as a condition of its own. What policies or the
 * document say of the tenant is therefore said again of all rows that keys with the tenant lead to; it takes nothing away.
 */

/** The condition of the tenant that is known, for a relation that is read. */
export function ofTenant({ entity, tenant, column }: Scope): readonly Sql[] {
  return entity.tenant === undefined || tenant === null ? [] : [sql`${column(entity.tenant.column)} = ${tenant}`]
}

/** How the rows that a join leads to are found among all. */
export interface Way {
  /** The row that it leads to, with what is known of it. */
  readonly there: Scope
  /** What follows it in FROM. */
  readonly joins: readonly JoinClause[]
  /** The condition that it belongs to the row here. */
  readonly on: Sql
  /** The row in between, and its columns that are equal to those here. */
  readonly between: Scope | null
  readonly near: readonly Sql[]
  /** What of the condition is about the rows alone, to whichever row here they belong. */
  readonly counted: readonly Sql[]
}

/** @param there a row of the relation that the join leads to */
export function wayTo(writer: Writer, join: Join, here: Scope, there: Scope, part: Part): Way {
  const { through } = join
  if (through === undefined) {
    const near = join.foreign.map((name) => there.column(name))
    const counted = ofDeleted(there, join.deleted)
    return {
      there: reached(join, here, there),
      joins: [],
      on: belongs(join, here, there),
      between: null,
      near,
      counted,
    }
  }
  const [first, second] = [
    { local: join.local, foreign: through.near, deleted: false },
    { ...join, local: through.far },
  ]
  const between = reached(first, here, readFor(writer, through.entity, part))
  const { alias, builder } = between
  return {
    there: reached(second, between, there),
    joins: [{ kind: 'join', of: relationOf(builder), alias, on: belongs(second, between, there) }],
    on: belongs(first, here, between),
    between,
    near: through.near.map((name) => between.column(name)),
    counted: ofDeleted(between, first.deleted),
  }
}

/** The condition that two rows belong together, between which there is no other one. */
export function belongs(join: Omit<Join, 'through'>, here: Scope, there: Scope): Sql {
  const equal = join.local.map((name, index) => {
    const other = join.foreign[index] ?? ''
    return sql`${there.column(other)} ${equality(there, other, here, name)} ${here.column(name)}`
  })
  const others = [...ofDeleted(there, join.deleted), ...ofTenant(reached(join, here, there))]
  return joined([...equal, ...others], ' and ')
}

/** What compares columns that are joined: the operator of their type, where both are of one. */
export function equality(there: Scope, name: string, here: Scope, other: string): Sql {
  const [one, two] = [columnOf(there.builder, name), columnOf(here.builder, other)].map(({ order }) => order?.['='])
  return trusted(one !== undefined && one === two ? one : '=')
}

/** The row that the join leads to, with what is known of the one that it begins at. */
export function reached(join: Omit<Join, 'through'>, here: Scope, there: Scope): Scope {
  const isSame = join.local.some(
    (name, index) => name === here.entity.tenant?.column && join.foreign[index] === there.entity.tenant?.column,
  )
  return isSame ? { ...there, tenant: there.tenant ?? here.tenant } : there
}

/** The row of a related relation that is read for this part of the plan. */
export const readRelated = (
  writer: Writer,
  { entity, join }: { readonly entity: EntityFacts; readonly join: Join },
  here: Scope,
  part: Part,
): Scope => reached(join, here, readFor(writer, entity, part))

/** The row with what a filter that it satisfies says of its tenant. */
export const satisfying = (scope: Scope, filter: Filter | null): Scope =>
  knowing(scope, (column) => (filter === null ? null : demanded(filter, scope.entity, column)))

/** The row with what the values of its key say of its tenant. */
export const withKey = (scope: Scope, key: readonly string[], values: readonly Value[]): Scope =>
  knowing(scope, (column) => ofKey(key, values, column))

/** The inserted row with what all of these say of their tenant. */
export const insertedAs = (scope: Scope, rows: InsertRows): Scope =>
  knowing(scope, (column) => insertedValue(rows, rows.columns.indexOf(column)))

/** @param say what is said of the column that the relation is distributed by */
function knowing(scope: Scope, say: (column: string) => Value | null): Scope {
  const { entity, tenant } = scope
  if (entity.tenant === undefined || tenant !== null) return scope
  const { column } = entity.tenant
  const value = say(column)
  if (value === null) return scope
  return { ...scope, tenant: applied(columnOf(scope.builder, column).operand, valueParameter(value)) }
}

/** What the column has to equal; null: that, or something else. */
function demanded(filter: Filter, entity: EntityFacts, column: string): Value | null {
  switch (filter.kind) {
    case 'all':
      return filter.of.map((one) => demanded(one, entity, column)).find((value) => value !== null) ?? null
    case 'key':
      return ofKey(entity.key, filter.values, column)
    case 'compare':
      return filter.operator === 'eq' && comparedColumn(filter) === column ? filter.value : null
    case 'any':
    case 'not':
    case 'presence':
    case 'spatial':
    case 'form':
    case 'elements':
    case 'deleted':
    case 'related':
      return null
  }
}

const ofKey = (key: readonly string[], values: readonly Value[], column: string): Value | null =>
  values[key.indexOf(column)] ?? null

function insertedValue(rows: InsertRows, place: number): Value | null {
  const [first = null, ...others] =
    rows.kind === 'separate' ? rows.rows.map((row) => row[place] ?? null) : recordValues(rows.records, place)
  return first !== null && others.every((other) => other !== null && isDeepStrictEqual(first.slot, other.slot))
    ? first
    : null
}

/** What records that the document lists have in the place; nothing where they are a variable. */
function recordValues({ slot, encoding }: Value, place: number): readonly (Value | null)[] {
  const member = encoding.kind === 'records' ? encoding.members[place] : undefined
  if (slot.kind !== 'list' || member === undefined) return []
  return slot.items.map((item) => {
    const field = item.kind === 'object' ? item.fields.find(([name]) => name === member.name) : undefined
    return field === undefined ? null : { slot: field[1], encoding: { kind: 'scalar', maxLength: member.maxLength } }
  })
}
