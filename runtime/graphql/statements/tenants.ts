import { isDeepStrictEqual } from 'node:util'
import type { EntityFacts } from '../../contract/manifest.ts'
import { applied, joined, select, sql, trusted, type JoinClause, type Sql } from '../../sql/tree.ts'
import { comparedColumn } from '../plan/conditions.ts'
import { hopsOf, isConnected } from '../plan/joins.ts'
import type { DirectJoin, Filter, InsertRows, Join } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { ofMeant } from './meant.ts'
import { ofKeyed, columnOf, readFor, relationOf, type Part, type Scope, type Writer } from './source.ts'
import { valueParameter } from './parameters.ts'

/**
 * Citus sends a statement to one server if each relation has its own condition on the tenant. Conditions of policies or
 * of the document on the tenant are therefore repeated for all rows that keys with the tenant lead to; the result stays
 * the same.
 */

/** The condition on the known tenant, for a relation that is read. */
export function ofTenant({ entity, tenant, column }: Scope): readonly Sql[] {
  return entity.tenant === undefined || tenant === null ? [] : [sql`${column(entity.tenant.column)} = ${tenant}`]
}

export interface Way {
  /** The row at its end, with its known facts. */
  readonly there: Scope
  /** The items of FROM after it. */
  readonly joins: readonly JoinClause[]
  /** The condition that it belongs to the row here. */
  readonly on: Sql
  /** Further conditions. */
  readonly met: readonly Sql[]
  /** The intermediate row, if there is exactly one. */
  readonly between: Scope | null
  /** The row whose columns equal those here. */
  readonly nearest: Scope
  /** The conditions on the rows alone, independent of the row here. */
  readonly counted: readonly Sql[]
}

/** A row on the path, its join condition, and its own conditions. */
interface Place {
  readonly scope: Scope
  readonly on: Sql
  readonly met: readonly Sql[]
  /** The part of `on` about the row alone. */
  readonly alone: readonly Sql[]
}

/**
 * Intermediate rows are joined, beginning at the far end; if several of them may lead there, EXISTS is used.
 *
 * @param there a row of the relation at the end of the join
 */
export function wayTo(writer: Writer, join: Join, here: Scope, there: Scope, part: Part): Way {
  const places = placesOn(writer, join, here, there, part)
  const [last, ...between] = places.toReversed()
  const [first] = places
  if (first === undefined || last === undefined) throw new Error(`no join leads to ${there.builder.relation}`)
  const way = {
    there: last.scope,
    met: last.met,
    between: isConnected(join) ? first.scope : null,
    nearest: first.scope,
    counted: first.alone,
  }
  if (join.repeats !== true) {
    const joins = between.map(({ scope, met }, index) => {
      const on = joined([places.at(-1 - index)?.on ?? sql`true`, ...met], ' and ')
      return { kind: 'join', of: relationOf(scope.builder), alias: scope.alias, on } as const
    })
    return { ...way, joins, on: first.on }
  }
  const [from, ...others] = places.slice(0, -1)
  if (from === undefined) throw new Error('nothing in between repeats nothing')
  const rows = select([], {
    from: [
      {
        of: relationOf(from.scope.builder),
        alias: from.scope.alias,
        joins: others.map(({ scope, on, met }) => ({
          kind: 'join',
          of: relationOf(scope.builder),
          alias: scope.alias,
          on: joined([on, ...met], ' and '),
        })),
      },
    ],
    where: [from.on, ...from.met, last.on],
  })
  return { ...way, joins: [], on: sql`exists ${rows}` }
}

function placesOn(writer: Writer, join: Join, here: Scope, there: Scope, part: Part): readonly Place[] {
  const hops = hopsOf(join, there.entity)
  return hops.reduce<readonly Place[]>((before, hop, index) => {
    const from = before.at(-1)?.scope ?? here
    const scope = reached(hop.join, from, index === hops.length - 1 ? there : readFor(writer, hop.entity, part))
    const { filter } = hop.join
    const met = filter === undefined ? [] : [writer.filter(filter, writer, part)(scope)]
    return [...before, { scope, on: belongs(hop.join, from, scope), met, alone: ofRow(hop.join, scope) }]
  }, [])
}

/** The join condition of two directly related rows. */
function belongs(join: DirectJoin, here: Scope, there: Scope): Sql {
  const equal = join.local.map((name, index) => {
    const other = join.foreign[index] ?? ''
    return isJoined(there, other, there.column(other), here, name)
  })
  return joined([...equal, ...ofRow(join, there), ...ofTenant(reached(join, here, there))], ' and ')
}

/** The conditions of a join on its target row, independent of the row here. */
const ofRow = ({ meant, foreign }: DirectJoin, there: Scope): readonly Sql[] => [
  ...ofMeant(there, meant),
  ...ofKeyed(there, foreign),
]

/**
 * The condition that joined columns are equal: with the operator of their type if both have the same type, and, if
 * their collations differ, with the collation of the referenced key (PostgreSQL manual 24.2), since Postgres would
 * choose none.
 *
 * @param value that of the column there
 */
export function isJoined(there: Scope, other: string, value: Sql, here: Scope, name: string): Sql {
  const [one, two] = [columnOf(there.builder, other), columnOf(here.builder, name)]
  const own = one.order?.['=']
  const operator = trusted(own !== undefined && own === two.order?.['='] ? own : '=')
  const isKeyHere = here.entity.key.includes(name) && !there.entity.key.includes(other)
  const isUnclear = one.collation !== undefined && two.collation !== undefined && one.collation !== two.collation
  const collated = isUnclear ? sql` collate ${trusted((isKeyHere ? two : one).collation ?? '')}` : sql``
  return sql`${value} ${operator} ${here.column(name)}${collated}`
}

/** The target row of the join, with facts that follow from its source row. */
function reached(join: DirectJoin, here: Scope, there: Scope): Scope {
  return joinsTenants(join, here.entity, there.entity) ? { ...there, tenant: there.tenant ?? here.tenant } : there
}

/** Whether the join compares the tenants of both. */
const joinsTenants = ({ local, foreign }: DirectJoin, here: EntityFacts, there: EntityFacts): boolean =>
  local.some((name, index) => name === here.tenant?.column && foreign[index] === there.tenant?.column)

/** The row with the tenant that follows from a filter it satisfies. */
export const satisfying = (scope: Scope, filter: Filter | null): Scope =>
  knowing(scope, (column) => (filter === null ? null : demanded(filter, scope.entity, column)))

/** The row with the tenant that follows from the values of its key. */
export const withKey = (scope: Scope, key: readonly string[], values: readonly Value[]): Scope =>
  knowing(scope, (column) => ofKey(key, values, column))

/** The inserted row with the tenant that all of these give. */
export const insertedAs = (scope: Scope, rows: InsertRows): Scope =>
  knowing(scope, (column) => insertedValue(rows, rows.columns.indexOf(column)))

/** @param say returns the value of the distribution column, if known */
function knowing(scope: Scope, say: (column: string) => Value | null): Scope {
  const { entity, tenant } = scope
  if (entity.tenant === undefined || tenant !== null) return scope
  const { column } = entity.tenant
  const value = say(column)
  if (value === null) return scope
  return { ...scope, tenant: applied(columnOf(scope.builder, column).operand, valueParameter(value)) }
}

/** The value that the column must equal; null: unknown. */
function demanded(filter: Filter, entity: EntityFacts, column: string): Value | null {
  switch (filter.kind) {
    case 'all':
      return filter.of.map((one) => demanded(one, entity, column)).find((value) => value !== null) ?? null
    case 'key':
      return ofKey(entity.key, filter.values, column)
    case 'compare':
      return filter.operator === 'eq' && comparedColumn(filter) === column ? filter.value : null
    case 'related':
      return filter.quantifier === 'some' && filter.of !== null
        ? demandedThere(filter.join, filter.entity, filter.of, entity)
        : null
    case 'any':
    case 'not':
    case 'compare-column':
    case 'presence':
    case 'spatial':
    case 'form':
    case 'elements':
    case 'meant':
      return null
  }
}

/** The tenant that rows must have to have related rows with a condition, if each join on the path compares tenants. */
function demandedThere(join: Join, target: EntityFacts, of: Filter, here: EntityFacts): Value | null {
  const hops = hopsOf(join, target)
  const isByTenant = hops.every(({ join: hop, entity }, index) => {
    const from = hops[index - 1]?.entity ?? here
    // A value for one is a value for the other.
    return joinsTenants(hop, from, entity) && isDeepStrictEqual(tenantType(from), tenantType(entity))
  })
  return isByTenant && target.tenant !== undefined ? demanded(of, target, target.tenant.column) : null
}

function tenantType({ columns, tenant }: EntityFacts): unknown {
  const found = columns.find(({ column }) => column === tenant?.column)
  return [found?.type, found?.maxLength]
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

/** The values of literal records at the place; empty for a variable. */
function recordValues({ slot, encoding }: Value, place: number): readonly (Value | null)[] {
  const member = encoding.kind === 'records' ? encoding.members[place] : undefined
  if (slot.kind !== 'list' || member === undefined) return []
  return slot.items.map((item) => {
    const field = item.kind === 'object' ? item.fields.find(([name]) => name === member.name) : undefined
    return field === undefined ? null : { slot: field[1], encoding: { kind: 'scalar', maxLength: member.maxLength } }
  })
}
