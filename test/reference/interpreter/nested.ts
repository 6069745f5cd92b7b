import type { ApiTable } from './api-types.ts'
import { isMeant } from './deleted.ts'
import { surroundingsOf, type Context } from './context.ts'
import { nestedFields, type NestedField } from './nested-api.ts'
import { isSame } from './constraints.ts'
import { Refused } from './refusal.ts'
import { visibleRows, type Row, type Store } from './store.ts'
import { compareValues, readCompared } from './types.ts'
import type { Json, Value } from './world.ts'
import { putRows, readCells, readConflict, type Conflict, type Written } from './write.ts'

/** Inserts with related rows (spec/graphql.md 17.6). */

export type Fields = Readonly<Record<string, Json>>
type Links = ReadonlyMap<string, Value>

const isObject = (json: Json | undefined): json is Fields =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

const asList = (json: Json | undefined): readonly Json[] =>
  json === null || json === undefined ? [] : Array.isArray(json) ? json : [json]

export const memberOf = (json: Json | undefined, name: string): Json | undefined =>
  isObject(json) ? json[name] : undefined

/** Whether some object contains related rows. */
export const namesRelated = ({ world, api }: Context, table: ApiTable, objects: Json | undefined): boolean => {
  const fields = nestedFields(world, api, table)
  return asList(objects).some((object) => isObject(object) && fields.some(({ name }) => Object.hasOwn(object, name)))
}

/** The number of rows, nested ones included. */
export const rowsIn = (context: Context, table: ApiTable, objects: Json | undefined): number =>
  objectsOf(objects).reduce(
    (sum, object) =>
      nestedFields(context.world, context.api, table).reduce(
        (inner, { name, target }) => inner + rowsIn(context, target, memberOf(object[name], 'insert')),
        sum + 1,
      ),
    0,
  )

/** Everything that is refused before execution. */
export const checkNested = (context: Context, table: ApiTable, objects: Json | undefined): readonly string[] => [
  ...objectsOf(objects).flatMap((object) => checkObject(context, table, object, null)),
  ...checkConflicts(context, table, objectsOf(objects)),
]

/** Place by place: the treatment of existing rows, which must be equal for all rows of a place. */
const checkConflicts = (context: Context, table: ApiTable, objects: readonly Fields[]): readonly string[] =>
  nestedFields(context.world, context.api, table).flatMap((field) => checkConflict(context, field, objects))

/** Of one relation, and of its nested rows. */
export function checkConflict(
  context: Context,
  { name, target }: Pick<NestedField, 'name' | 'target'>,
  objects: readonly Fields[],
): readonly string[] {
  const holders = adding(objects, name)
  if (holders.length === 0) return []
  const said = holders.map((holder) => {
    const given = memberOf(holder, 'onConflict')
    if (!isObject(given)) return ''
    const fields = [...new Set(asList(given['updateFields']))].sort()
    const deleted = fields.length === 0 ? null : (given['deleted'] ?? 'WITHOUT')
    return JSON.stringify([given['constraint'], fields, deleted])
  })
  const isConditional = holders.some((holder) => (memberOf(memberOf(holder, 'onConflict'), 'filter') ?? null) !== null)
  const differ = holders.length > 1 && (isConditional || new Set(said).size > 1)
  return [
    ...holders.flatMap((holder) => reasonsOf(() => conflictOf(context, null, target, holder))),
    ...(differ ? [`Several objects with "${name}" take the same "onConflict", without "filter"`] : []),
    ...checkConflicts(
      context,
      target,
      holders.flatMap((holder) => objectsOf(memberOf(holder, 'insert'))),
    ),
  ]
}

/** The relation in each object that adds rows there. */
const adding = (objects: readonly Fields[], name: string): readonly (Json | undefined)[] =>
  objects.map((object) => object[name]).filter((holder) => objectsOf(memberOf(holder, 'insert')).length > 0)

export const conflictOf = (
  context: Context,
  store: Store | null,
  target: ApiTable,
  holder: Json | undefined,
): Conflict | null => readConflict(surroundingsOf(context, store), target, (name) => memberOf(holder, name))

export function checkObject(
  context: Context,
  table: ApiTable,
  object: Fields,
  outer: { readonly name: string; readonly columns: readonly string[] } | null,
): readonly string[] {
  const fields = nestedFields(context.world, context.api, table)
  const forward = fields.filter(({ name, relation }) => relation.direction === 'forward' && parentOf(object[name]))
  const given = [...table.inserts].filter(([name]) => Object.hasOwn(object, name))
  const sources = [
    ...given.map(([name, column]) => ({ name, columns: [column.name] })),
    ...(outer === null ? [] : [outer]),
    ...forward.map(({ name, relation }) => ({ name, columns: relation.local })),
  ]
  return [
    ...reasonsOf(() => cellsOf(context, table, object)),
    ...fields.flatMap((field) => checkRelation(context, field, object[field.name])),
    ...table.sketch.columns.flatMap(({ name }) => {
      const all = sources.filter(({ columns }) => columns.includes(name))
      return all
        .slice(1)
        .map((source, index) => `The column "${name}" is given by "${all[index]?.name}" and by "${source.name}"`)
    }),
  ]
}

function checkRelation(context: Context, field: NestedField, given: Json | undefined): readonly string[] {
  const { relation, target, keys } = field
  const outer = relation.direction === 'forward' ? null : { name: field.name, columns: relation.foreign }
  const inner = asList(memberOf(given, 'insert')).flatMap((object) =>
    isObject(object) ? checkObject(context, target, object, outer) : [],
  )
  const connect = memberOf(given, 'connect')
  if (!isObject(connect)) return inner
  const texts = keys.map((key) => `{${[...key.keys()].join(', ')}}`).join(', ')
  return [
    ...inner,
    ...(isObject(memberOf(given, 'insert')) ? ['Only one of "insert" and "connect" can be given'] : []),
    ...(keyOf(field, connect) === undefined ? [`"connect" takes the columns of one key: ${texts}`] : []),
  ]
}

export function reasonsOf(read: () => unknown): readonly string[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof Refused) return error.reasons
    throw error
  }
}

const parentOf = (given: Json | undefined): boolean =>
  isObject(memberOf(given, 'insert')) || isObject(memberOf(given, 'connect'))

export const keyOf = ({ keys }: Pick<NestedField, 'keys'>, connect: Fields): NestedField['keys'][number] | undefined =>
  keys.find((key) => key.size === Object.keys(connect).length && [...key.keys()].every((name) => name in connect))

function cellsOf({ world }: Context, table: ApiTable, object: Fields): ReadonlyMap<string, Value> {
  const own = Object.fromEntries(Object.entries(object).filter(([name]) => table.inserts.has(name)))
  return readCells(world, table.inserts, own)
}

/** The results: the rows of the objects, and the total number. */
export interface NestedWritten extends Written {
  readonly count: number
}

/** All writes of an insert; its rows are read at the end by their keys. */
export function insertNested(
  context: Context,
  store: Store,
  table: ApiTable,
  arg: (name: string) => Json | undefined,
  selects: boolean,
): NestedWritten {
  const conflict = readConflict(surroundingsOf(context, store), table, arg)
  const written = insertPlace(context, store, table, objectsOf(arg('objects')), {
    conflict,
    isParent: false,
    isRead: selects,
  })
  const there = visibleRows(written.store, table.sketch, context.claims)
  const key = table.key.map(({ name }) => name)
  const records = written.records.flatMap(
    (row) => there.find((other) => isSame(context.world, table.sketch, key, row, key, other)) ?? [],
  )
  return { ...written, records }
}

/** How rows of a place are written. */
interface Place {
  readonly conflict: Conflict | null
  /** Whether they belong to the rows of the previous step. */
  readonly isParent: boolean
  /** Whether they are read again by their keys. */
  readonly isRead?: boolean
  /** The columns that surrounding rows give each of them. */
  readonly around?: readonly Links[]
}

/** Place by place: the parent rows, these, and the child rows; each step sees the earlier ones. */
export function insertPlace(
  context: Context,
  store: Store,
  table: ApiTable,
  objects: readonly Fields[],
  at: Place,
): NestedWritten {
  const { world, api } = context
  const { conflict, around = objects.map(() => new Map<string, Value>()) } = at
  const fields = nestedFields(world, api, table)
  const links = around.map((one) => new Map(one))
  let [after, count] = [store, 0]
  const link = (place: number, { relation }: NestedField, parent: Row): void =>
    relation.local.forEach((name, index) => {
      links[place]?.set(name, parent.get(relation.foreign[index] ?? '') ?? null)
    })
  for (const field of fields.filter(({ relation }) => relation.direction === 'forward')) {
    const given = objects.map((object) => object[field.name])
    const fresh = given.flatMap((one, place) => {
      const object = memberOf(one, 'insert')
      return isObject(object) ? [{ place, object }] : []
    })
    if (fresh.length > 0) {
      const made = insertPlace(
        context,
        after,
        field.target,
        fresh.map(({ object }) => object),
        { conflict: conflictOf(context, after, field.target, adding(objects, field.name)[0]), isParent: true },
      )
      after = made.store
      count += made.count
      fresh.forEach(({ place }, index) => link(place, field, made.records[index] ?? new Map()))
    }
    given.forEach((one, place) => {
      const connect = memberOf(one, 'connect')
      if (isObject(connect)) link(place, field, found(context, after, field, connect))
    })
  }
  const cells = objects.map((object, place) => new Map([...cellsOf(context, table, object), ...(links[place] ?? [])]))
  if (links.some(isToNothing))
    throw new Refused(
      nullReferred,
      ...reasonsOf(() => putRows(context, after, table, cells, conflict, { reads: true, needsAll: false })),
    )
  const reverse = fields.filter(({ relation }) => relation.direction === 'reverse')
  const isNeeded = at.isParent || reverse.some(({ name }) => adding(objects, name).length > 0)
  const { records, store: added } = putRows(context, after, table, cells, conflict, {
    reads: isNeeded || at.isRead === true,
    needsAll: isNeeded,
  })
  after = added
  count += records.length
  for (const field of reverse) {
    const children = objects.flatMap((object, place) =>
      asList(memberOf(object[field.name], 'insert')).flatMap((child) => (isObject(child) ? [{ child, place }] : [])),
    )
    if (children.length === 0) continue
    const { local, foreign } = field.relation
    const made = insertPlace(
      context,
      after,
      field.target,
      children.map(({ child }) => child),
      {
        conflict: conflictOf(context, after, field.target, adding(objects, field.name)[0]),
        isParent: false,
        around: children.map(
          (child) =>
            new Map(foreign.map((name, index) => [name, records[child.place]?.get(local[index] ?? '') ?? null])),
        ),
      },
    )
    after = made.store
    count += made.count
  }
  return { store: after, records, count }
}

/** Null refers to no row, which would detach the row. */
const isToNothing = (links: ReadonlyMap<string, Value>): boolean => [...links.values()].includes(null)

export const nullReferred = 'A row that others depend on has a null in the columns that they refer to'

export function found(
  { world, claims }: Context,
  store: Store,
  field: Pick<NestedField, 'keys' | 'target'>,
  connect: Fields,
): Row {
  const key = keyOf(field, connect) ?? new Map()
  const wanted = [...key].map(
    ([name, column]) => [column.name, column.type, readCompared(world, column.type, connect[name] ?? null)] as const,
  )
  const there = visibleRows(store, field.target.sketch, claims)
  const row = there
    .filter((one) => isMeant(field.target.sketch, one, undefined))
    .find((one) =>
      wanted.every(([name, type, value]) => {
        const present = one.get(name) ?? null
        return present !== null && value !== null && compareValues(world, type, present, value) === 0
      }),
    )
  if (row === undefined) throw new Refused('There is no such row to connect')
  return row
}

/** The objects of `objects`. */
export const objectsOf = (objects: Json | undefined): readonly Fields[] => asList(objects).filter(isObject)
