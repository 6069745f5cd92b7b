import type { AttributeBuilder, CallBuilder, ComputedBuilder, EntityBuilder } from '../../contract/builder.ts'
import type { EntityFacts, ObjectId } from '../../contract/manifest.ts'
import type { Engine } from '../../engine/engine.ts'
import { bare } from '../../sql/ident.ts'
import type { MakeObject } from '../../sql/json.ts'
import {
  literal,
  applied,
  sql,
  trusted,
  type Carried,
  type Outlet,
  type Ident,
  type Sql,
  type SqlText,
} from '../../sql/tree.ts'
import type {
  Argument,
  Collection,
  Filter,
  OrderKey,
  RankKey,
  Root,
  Row,
  RowMember,
  TypeKey,
} from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { longestOf, type Ordered } from './cursor.ts'
import { valueParameter } from './parameters.ts'
import { isNotNull } from '../../sql/nulls.ts'

/** The context of every function that writes a part of a statement. */
export interface Writer {
  readonly engine: Pick<Engine, 'entity' | 'call' | 'manifest' | 'additions'>
  /** The value that policies demand of the distribution column; null: unknown. */
  readonly tenant: (entity: EntityFacts) => Sql | null
  /** A fresh alias: `t1`, `p2`, ... Its number distinguishes it and means nothing else. */
  readonly alias: (letter: string) => Ident
  /** Called with the part of the plan under each alias. */
  readonly note: Note
  /** Makes a condition of a filter; here because filters ask for related rows, and these may have to meet filters. */
  readonly filter: WriteFilter
  /** Writes a row as an object; here because rows hold collections and collections hold rows. */
  readonly row: WriteRow
}

/** A part of a plan that reads a relation or calls a function. */
export type Part = Row | Collection | Root | RowMember

export type Note = (alias: string, part: Part) => void

/** `object` makes an object of the row's members. */
export type WriteRow = (writer: Writer, row: Row, scope: Scope, object: MakeObject) => Sql

/** A condition for any alias; its values are bound once, however often it is written. */
export type Condition = (scope: Scope) => Sql

type WriteFilter = (filter: Filter, writer: Writer, part: Part) => Condition

type PartWriters = Pick<Writer, 'row' | 'filter'>

export function createWriter(engine: Writer['engine'], role: string, parts: PartWriters, note: Note): Writer {
  let count = 0
  const alias: Writer['alias'] = (letter) => bare(letter, (count += 1))
  return { engine, tenant: createTenants(engine, role), alias, note, ...parts }
}

/** One parameter for all columns of a type that have the same value. */
function createTenants(engine: Writer['engine'], role: string): Writer['tenant'] {
  const parameters = new Map<string, Sql>()
  return ({ id, tenant }) => {
    if (tenant?.policed === undefined || tenant.policed.exempt.includes(role)) return null
    const builder = engine.entity(id)
    const { tenant: expression } = builder
    if (expression === undefined) throw new Error(`the builder of ${builder.relation} has no tenant`)
    const { operand } = columnOf(builder, tenant.column)
    const key = JSON.stringify([expression, operand('')])
    const known = parameters.get(key) ?? applied(operand, valueParameter(tenantValue(expression)))
    parameters.set(key, known)
    return known
  }
}

const tenantValue = (expression: string): Value => ({
  slot: { kind: 'tenant', expression },
  encoding: { kind: 'scalar', maxLength: null },
})

/**
 * A row in reach: how its columns are written at this place of the statement.
 *
 *   select x2.c1 from (select t1."a" as c1 from "t" t1 where t1."b" > $1) x2
 *     inner level     directScope(writer, entity, t1)      column('a') = t1."a"
 *     outer level     seenOutside(inner, x2).scope         column('a') = Carried { of: t1."a", outlet }
 *     in between      seenOutside(inner, x2).outlet        stands in the select list of the inner level
 *   print.ts          lists for each Outlet the Carried that the tree mentions: `t1."a" as c1`, mentioned as `x2.c1`
 *
 *   Collection ─> matchingRows: filter, parent ─ read ─> { scope, from, where } of the inner level
 *              ─> scanRows: order, cursor, limit ──────> { scope, rows } of the outer level
 */
export interface Scope {
  readonly entity: EntityFacts
  readonly builder: EntityBuilder
  /** The alias of the row in FROM. */
  readonly alias: Ident
  readonly column: (name: string) => Sql
  /** The value of an order key; for keys of related rows only where these were joined (related.ts). */
  readonly ordered: (key: OrderKey) => Ordered
  /** A function made it, so that no constraint holds for it. */
  readonly isMade?: true
  /** The row in between, through which this one was reached. */
  readonly between?: Scope
  /** An element of a list, in conditions on those (filter.ts). */
  readonly element?: { readonly value: Sql; readonly type: Pick<AttributeBuilder, 'operand' | 'operands'> }
  /** The whole row as a value of its composite type. */
  readonly row: () => Sql
  /** The value of the distribution column (tenants.ts); null: unknown, or the relation is not distributed. */
  readonly tenant: Sql | null
}

/** The row of a table, function or CTE that stands in FROM under this alias. */
export function directScope(writer: Writer, entity: EntityFacts, alias: Ident): Scope {
  const builder = writer.engine.entity(entity.id)
  // A key that is mentioned again is the same column of the inner select.
  const ranks = new Map<RankKey, Ordered>()
  const ranked = (key: RankKey): Ordered => {
    const known = ranks.get(key) ?? rankOf(writer, key, applied(columnOf(builder, key.column).of, alias))
    ranks.set(key, known)
    return known
  }
  return {
    entity,
    builder,
    alias,
    column: (name) => applied(columnOf(builder, name).of, alias),
    ordered: (key) => {
      if (typeof key !== 'string' && key.kind === 'rank') return ranked(key)
      if (typeof key !== 'string' && key.kind === 'type') return typeName(key)
      if (typeof key !== 'string') throw new Error(`the rows related to ${builder.relation} were not joined`)
      const { of, notNull, order, recordType, operand, cursor } = columnOf(builder, key)
      const longest = longestOf(entity.columns.find(({ column }) => column === key)?.type)
      return {
        value: applied(of, alias),
        notNull,
        isArray: recordType.endsWith('[]'),
        operand: (value) => applied(operand, value),
        cursor: (value) => applied(cursor, value),
        longest,
        ...(order && { comparisons: order }),
      }
    },
    row: () => sql`(${alias}.*)::${relationOf(builder)}`,
    tenant: writer.tenant(entity),
  }
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** The rank of a column's value. */
    readonly rank?: (key: RankKey, column: Sql) => Ordered
  }
}

function rankOf({ engine }: Writer, key: RankKey, column: Sql): Ordered {
  const [rank] = engine.additions.list.flatMap((one) => one.rank?.(key, column) ?? [])
  if (rank === undefined) throw new Error(`nothing ranks the form ${key.form}`)
  return rank
}

/** In byte order, whatever the collation of the database is. */
const typeName = ({ name }: TypeKey): Ordered => ({
  value: sql`${literal(name)}::text collate "C"`,
  notNull: true,
  isArray: false,
  operand: (value) => sql`${value}::text`,
  cursor: (value) => value,
  longest: name.length + 2,
})

/** The row of a relation that is read or changed for this part of the plan, under a fresh alias. */
export function readFor(writer: Writer, entity: EntityFacts, part: Part): Scope {
  const scope = directScope(writer, entity, writer.alias('t'))
  writer.note(scope.alias, part)
  return scope
}

/** The row of an inner level seen through the alias of its sub-select. */
interface Outside {
  readonly scope: Scope
  /** Stands in the select list of the inner level. */
  readonly outlet: Outlet
}

/**
 * Each used value of the scope becomes a column of the inner level, `t1."created_at" as c2`; unused values do not.
 * @param otherwise the select list of the inner level if no value is used
 * @param whole the name of the column that is the whole row
 */
export function seenOutside(inner: Scope, alias: Ident, otherwise: Sql = sql`1`, whole: string = 'r'): Outside {
  const nulls = new Map<Sql, () => Sql>()
  const outlet: Outlet = { kind: 'outlet', alias, otherwise, nullOf: (of) => nulls.get(of)?.() ?? sql`null` }
  // A second mention is the same column for every later user of it.
  const mentions = new Map<Sql, Carried>()
  const carry = (of: Sql, nothing: () => Sql, as: Ident | null = null): Sql => {
    const mention = mentions.get(of) ?? { kind: 'carried', outlet, of, as }
    mentions.set(of, mention)
    nulls.set(of, nothing)
    return mention
  }
  const outside = (row: Scope, as: string): Scope => ({
    entity: row.entity,
    builder: row.builder,
    alias,
    column: (name) => carry(row.column(name), () => nullColumn(row, name)),
    ordered: (key) => {
      const element = row.ordered(key)
      const nothing = (): Sql => (typeof key === 'string' ? nullColumn(row, key) : sql`null`)
      return { ...element, value: carry(element.value, nothing) }
    },
    row: () => carry(row.row(), () => nullRow(row), bare(as)),
    tenant: row.tenant,
    ...(row.isMade && { isMade: row.isMade }),
    ...(row.between && { between: outside(row.between, 'b') }),
  })
  return { scope: outside(inner, whole), outlet }
}

/** A null of the type that the row or a column of it has. */
const nullRow = ({ builder }: Scope): SqlText => sql`null::${relationOf(builder)}`
const nullColumn = (row: Scope, name: string): Sql => applied(columnOf(row.builder, name).of, sql`(${nullRow(row)})`)

export const relationOf = (builder: EntityBuilder): SqlText => trusted(builder.relation)

export function columnOf(builder: EntityBuilder, name: string): EntityBuilder['columns'][string] {
  const column = Object.hasOwn(builder.columns, name) ? builder.columns[name] : undefined
  if (column === undefined) throw new Error(`the builder of ${builder.relation} has no column ${name}`)
  return column
}

export function computedOf(scope: Scope, id: ObjectId): ComputedBuilder {
  const computed = Object.hasOwn(scope.builder.computed, id) ? scope.builder.computed[id] : undefined
  if (computed === undefined) throw new Error(`the builder of ${scope.builder.relation} has no computed field ${id}`)
  return computed
}

export function passArguments(id: ObjectId, passes: CallBuilder['args'], args: readonly Argument[]): readonly Sql[] {
  return args.map((argument) => {
    const pass = Object.hasOwn(passes, argument.field) ? passes[argument.field] : undefined
    if (pass === undefined) throw new Error(`the builder of ${id} has no argument ${argument.field}`)
    return applied(pass, valueParameter(argument.value))
  })
}

export const given = <Item>(items: readonly (Item | null)[]): readonly Item[] => items.filter((item) => item !== null)

/** Rows with a null in their key are in no collection and related to none (spec/graphql.md 5.8). */

/**
 * The condition that a row has a key: its nullable key columns are not null.
 *
 * @param known columns that equal something, and so are not null
 */
export const ofKeyed = (scope: Scope, known: readonly string[] = []): readonly Sql[] =>
  scope.entity.key
    .filter((name) => !known.includes(name) && (scope.isMade === true || !columnOf(scope.builder, name).notNull))
    .map((name) => isNotNull(scope.column(name)))

/** Marks the row as having a key, for orders. */
export const havingKey = (scope: Scope): Scope => ({
  ...scope,
  ordered: (key) => ({
    ...scope.ordered(key),
    ...(typeof key === 'string' && scope.entity.key.includes(key) && { notNull: true }),
  }),
})

/** A row that a function returns: NOT NULL and foreign keys of its table do not apply. */
export const madeByFunction = (scope: Scope): Scope => ({
  ...scope,
  isMade: true,
  ordered: (key) => ({ ...scope.ordered(key), ...(typeof key === 'string' && { notNull: false }) }),
})
