import { isDeepStrictEqual } from 'node:util'
import type { EntityFacts } from '../../contract/manifest.ts'
import { applied, joined, select, sql, trusted, type JoinClause, type Sql } from '../../sql/tree.ts'
import { comparedColumn } from '../plan/forms.ts'
import { hopsOf, isConnected } from '../plan/joins.ts'
import type { DirectJoin, Filter, InsertRows, Join } from '../plan/types.ts'
import type { Value } from '../plan/values.ts'
import { ofDeleted } from './deleted.ts'
import { ofKeyed } from './keyed.ts'
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
  /** What it has to meet beside. */
  readonly met: readonly Sql[]
  /** The row in between, where there is one and no other. */
  readonly between: Scope | null
  /** The row whose columns are equal to those here. */
  readonly nearest: Scope
  /** What of the condition is about the rows alone, to whichever row here they belong. */
  readonly counted: readonly Sql[]
}

/** A row on the way, how it belongs to the one before it, and what it has to meet. */
interface Place {
  readonly scope: Scope
  readonly on: Sql
  readonly met: readonly Sql[]
  /** What of `on` is about the row alone. */
  readonly alone: readonly Sql[]
}

/**
 * Rows in between are joined, from the row there on; where several of them may lead there, it is asked whether there
 * are some.
 *
 * @param there a row of the relation that the join leads to
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

/** The condition that two rows belong together, between which there is no other one. */
function belongs(join: DirectJoin, here: Scope, there: Scope): Sql {
  const equal = join.local.map((name, index) => {
    const other = join.foreign[index] ?? ''
    return isJoined(there, other, there.column(other), here, name)
  })
  return joined([...equal, ...ofRow(join, there), ...ofTenant(reached(join, here, there))], ' and ')
}

/** What a join asks of the row that it leads to, whichever the row here is. */
const ofRow = ({ deleted, foreign }: DirectJoin, there: Scope): readonly Sql[] => [
  ...ofDeleted(there, deleted),
  ...ofKeyed(there, foreign),
]

/**
 * The condition that columns are equal which are joined: by the operator of their type, where both are of one, and, of two
 * collations, in that of the key that the other one refers to (PostgreSQL manual 24.2), where Postgres would take none.
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

/** The row that the join leads to, with what is known of the one that it begins at. */
function reached(join: DirectJoin, here: Scope, there: Scope): Scope {
  return joinsTenants(join, here.entity, there.entity) ? { ...there, tenant: there.tenant ?? here.tenant } : there
}

/** Whether the join compares the tenants of both. */
const joinsTenants = ({ local, foreign }: DirectJoin, here: EntityFacts, there: EntityFacts): boolean =>
  local.some((name, index) => name === here.tenant?.column && foreign[index] === there.tenant?.column)

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
    case 'deleted':
      return null
  }
}

/** What the tenant of rows has to equal to have related ones that meet a condition, where each join on the way compares tenants. */
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

/** What records that the document lists have in the place; nothing where they are a variable. */
function recordValues({ slot, encoding }: Value, place: number): readonly (Value | null)[] {
  const member = encoding.kind === 'records' ? encoding.members[place] : undefined
  if (slot.kind !== 'list' || member === undefined) return []
  return slot.items.map((item) => {
    const field = item.kind === 'object' ? item.fields.find(([name]) => name === member.name) : undefined
    return field === undefined ? null : { slot: field[1], encoding: { kind: 'scalar', maxLength: member.maxLength } }
  })
}
