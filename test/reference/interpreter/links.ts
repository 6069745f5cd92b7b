import { lowerFirst, toOneName, typeNameOf } from './names.ts'
import {
  columnNamed,
  grantsOf,
  type ColumnGrant,
  type ForeignKeySketch,
  type Role,
  type TableSketch,
  type World,
} from './world.ts'

/** The foreign keys by which tables lead to each other, as a role sees them. */

export const isGranted = (grant: ColumnGrant, column: string): boolean => grant === 'all' || grant.includes(column)

/** A foreign key between two tables that the role sees. */
export interface Link {
  readonly child: TableSketch
  readonly key: ForeignKeySketch
  readonly target: TableSketch
}

/** In the order of the tables and of their keys. */
export interface Links {
  readonly from: ReadonlyMap<TableSketch, readonly Link[]>
  readonly to: ReadonlyMap<TableSketch, readonly Link[]>
}

export const isAlwaysThere = (child: TableSketch, key: ForeignKeySketch, target: TableSketch): boolean =>
  key.unproven !== true &&
  target.policies === null &&
  target.softDelete === undefined &&
  target.primaryKey.every((name) => columnNamed(target, name).notNull || key.targetColumns.includes(name)) &&
  key.columns.every((name) => columnNamed(child, name).notNull)

/** Both tables are exposed, and every column of the key is readable on both sides (spec/graphql.md 1.4, 8.1). */
export function linksOf(world: World, role: Role, exposed: readonly TableSketch[]): Links {
  const byName = new Map(exposed.map((table) => [table.name, table]))
  const [from, to] = [new Map<TableSketch, Link[]>(), new Map<TableSketch, Link[]>()]
  const add = (links: Map<TableSketch, Link[]>, table: TableSketch, link: Link): void => {
    links.set(table, [...(links.get(table) ?? []), link])
  }
  for (const child of world.tables.filter(({ name }) => byName.has(name))) {
    for (const key of child.foreignKeys) {
      const target = byName.get(key.target)
      if (target === undefined || !isReadable(child, key.columns, role) || !isReadable(target, key.targetColumns, role))
        continue
      add(from, child, { child, key, target })
      add(to, target, { child, key, target })
    }
  }
  return { from, to }
}

export const isReadable = (table: TableSketch, columns: readonly string[], role: Role): boolean =>
  columns.every((column) => isGranted(grantsOf(table, role).select, column))

export const typeOf = (world: World, table: TableSketch): string =>
  typeNameOf(table.name, table.typeName, world.inflects)

/** The field of a key on its own table, and on the one that it refers to (spec/graphql.md 2.3). */
export const forwardName = (world: World, { key, target }: Link): string =>
  key.foreignName ?? toOneName(key.columns, typeOf(world, target), world.inflects)

export function reverseName(world: World, { child, key }: Link): string {
  const type = typeOf(world, child)
  const plain = isUnique(child, key.columns)
    ? toOneName(key.targetColumns, type, world.inflects)
    : `${lowerFirst(type)}Collection`
  return key.localName ?? plain
}

/** The columns include a unique key that is not partial (spec/graphql.md 8.3). */
export const isUnique = (table: TableSketch, columns: readonly string[]): boolean =>
  [{ columns: table.primaryKey, where: null }, ...table.uniques].some(
    (unique) => unique.where === null && unique.columns.every((column) => columns.includes(column)),
  )
