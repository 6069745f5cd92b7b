import type { ApiTable, Collected, RootField } from './api-types.ts'
import { isComputed, isHiddenOverload } from './calls.ts'
import { mayDelete } from './deleted.ts'
import { functionNameOf, lowerFirst } from './names.ts'
import { operatorNames } from './operators.ts'
import { compareText } from './types.ts'
import { hasAddition, type ColumnSketch, type World } from './world.ts'

/** The root fields of tables. */

const put = (fields: Map<string, RootField>, name: string, field: RootField): void => {
  if (!fields.has(name)) fields.set(name, field)
}

export function addInsert(mutation: Map<string, RootField>, table: ApiTable): void {
  if (table.inserts.size > 0) put(mutation, `insertInto${table.type}Collection`, { kind: 'insert', table })
}

export function addRootFields(query: Map<string, RootField>, mutation: Map<string, RootField>, table: ApiTable): void {
  const base = lowerFirst(table.type)
  const isRooted = table.sketch.unrooted !== true
  if (isRooted) put(query, `${base}Collection`, { kind: 'collection', table })
  if (isRooted && table.keyArguments !== null) put(query, `${base}ByPk`, { kind: 'byKey', table })
  addInsert(mutation, table)
  if (table.updates.size > 0) put(mutation, `update${table.type}Collection`, { kind: 'update', table })
  if (mayDelete(table)) put(mutation, `deleteFrom${table.type}Collection`, { kind: 'delete', table })
}

/**
 * Look-ups by unique keys other than the primary one (spec/graphql.md 17.3), in byte order of their columns; names of
 * functions stay theirs for every caller.
 */
export function addLookups(world: World, query: Map<string, RootField>, table: ApiTable): void {
  const { sketch } = table
  if (!hasAddition(world, sketch, 'uniqueKeys') || sketch.unrooted === true) return
  const called = calledBy(world, false)
  for (const columns of uniqueLookups(table)) {
    const field = `${lowerFirst(table.type)}By${wordsOf(columns)}`
    if (!called.has(field) && !query.has(field)) query.set(field, { kind: 'lookup', table, columns })
  }
}

/** Collections of interfaces take free names (spec/graphql.md 17.9). */
export function addCollected(world: World, query: Map<string, RootField>, all: readonly Collected[]): void {
  const called = calledBy(world, false)
  for (const collected of [...all].sort((a, b) => compareText(a.name, b.name))) {
    const field = `${lowerFirst(collected.name)}Collection`
    if (!called.has(field) && !query.has(field)) query.set(field, { kind: 'collections', collected })
  }
}

/** Names of functions, for every caller. */
const calledBy = (world: World, volatile: boolean): ReadonlySet<string> => {
  const calls = world.functions.filter(
    (fn) => fn.volatile === volatile && !isComputed(fn) && !isHiddenOverload(world, fn),
  )
  return new Set(calls.map((fn) => functionNameOf(fn.name, fn.field, world.inflects)))
}

/** Unique keys other than the primary one, by the fields of their columns. */
export function uniqueLookups(table: ApiTable): readonly ReadonlyMap<string, ColumnSketch>[] {
  const { sketch } = table
  const isKey = (columns: readonly string[]): boolean =>
    columns.length === sketch.primaryKey.length && columns.every((name) => sketch.primaryKey.includes(name))
  return sketch.uniques
    .filter(({ columns, where }) => where === null && !isKey(columns))
    .map(({ columns }) => columns)
    .sort((a, b) => compareText(JSON.stringify(a), JSON.stringify(b)))
    .flatMap((names) => argumentsOfKey(table, names) ?? [])
}

/** Null if the role cannot read a column, or it cannot be an argument. */
export function argumentsOfKey(table: ApiTable, names: readonly string[]): ReadonlyMap<string, ColumnSketch> | null {
  const columns = new Map(
    names.flatMap((name) => {
      const found = [...table.columns].find(([, column]) => column.name === name)
      const isNone = found === undefined || found[1].type.list
      return isNone || ['composite', 'geometry'].includes(found[1].type.base) ? [] : [found]
    }),
  )
  return columns.size === names.length ? columns : null
}

const wordsOf = (columns: ReadonlyMap<string, ColumnSketch>): string =>
  [...columns.keys()].map((name) => name.charAt(0).toUpperCase() + name.slice(1)).join('And')

/** Changes by keys and of many rows (spec/graphql.md 17.4); names of functions stay theirs. */
export function addChanges(world: World, mutation: Map<string, RootField>, table: ApiTable): void {
  if (!hasAddition(world, table.sketch, 'updates')) return
  const called = calledBy(world, true)
  const put = (name: string, field: RootField): void => {
    if (!called.has(name) && !mutation.has(name)) mutation.set(name, field)
  }
  const primary = primaryArguments(table)
  const keys = [
    ...(primary === null ? [] : [['Pk', primary] as const]),
    ...uniqueLookups(table).map((columns) => [wordsOf(columns), columns] as const),
  ]
  for (const [name, key] of keys) {
    const isSettable = isSettableBy(table, key)
    if (isSettable) put(`update${table.type}By${name}`, { kind: 'updateRow', table, key })
    if (mayDelete(table)) put(`delete${table.type}By${name}`, { kind: 'deleteRow', table, key })
    if (isSettable && key === primary) put(`update${table.type}Rows`, { kind: 'updateRows', table, key })
  }
}

const reserved: ReadonlySet<string> = new Set(['set', ...operatorNames])

export const primaryArguments = (table: ApiTable): ReadonlyMap<string, ColumnSketch> | null =>
  argumentsOfKey(
    table,
    table.key.map(({ name }) => name),
  )

/** Whether an update can name the key besides its set. */
export const isSettableBy = ({ updates }: ApiTable, key: ReadonlyMap<string, ColumnSketch>): boolean =>
  updates.size > 0 && [...key.keys()].every((field) => !reserved.has(field))
