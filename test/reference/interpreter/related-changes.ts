import type { ApiTable, RowWrite } from './api-types.ts'
import { readChanges, readNamed, type Change } from './changes.ts'
import { isSame } from './constraints.ts'
import type { Context } from './context.ts'
import {
  checkConflict,
  checkObject,
  conflictOf,
  found,
  insertPlace,
  keyOf,
  memberOf,
  nullReferred,
  objectsOf,
  reasonsOf,
  rowsIn,
  type Fields,
} from './nested.ts'
import { Refused } from './refusal.ts'
import { changedFields, relatedArgument, relatedMembers, type ChangedField, type RelatedMember } from './related-api.ts'
import { allowsIn, visibleRows, type Row, type Store } from './store.ts'
import { compareValues, readCompared } from './types.ts'
import type { ColumnSketch, ColumnType, Json, Value, World } from './world.ts'
import { change, reachable, readRows, removeAll, withPresets, type Written } from './write.ts'

/** Related rows in updates by key (spec/graphql.md 17.6), one statement after the other. */

type Argument = (name: string) => Json | undefined

const names = (given: Json | undefined): boolean => (typeof given === 'boolean' ? given : objectsOf(given).length > 0)

/** The members of a relation that name rows, in order. */
const namedMembers = ({ members, name }: ChangedField, related: Json | undefined): readonly RelatedMember[] =>
  relatedMembers.filter((member) => members.includes(member) && names(memberOf(memberOf(related, name), member)))

/** The relations with named rows. */
const namedFields = ({ world, api }: Context, table: ApiTable, related: Json | undefined): readonly ChangedField[] =>
  changedFields(world, api, table).filter((field) => namedMembers(field, related).length > 0)

export const namesRelatedRows = (context: Context, field: RowWrite, arg: Argument): boolean =>
  field.kind === 'updateRow' &&
  relatedArgument(context.world, context.api, field).length > 0 &&
  namedFields(context, field.table, arg('related')).length > 0

/** The number of named rows. */
export const relatedRowsIn = (context: Context, field: RowWrite, arg: Argument): number =>
  relatedArgument(context.world, context.api, field)
    .flatMap((one) =>
      namedMembers(one, arg('related')).map((member) => {
        const given = memberOf(memberOf(arg('related'), one.name), member)
        if (member === 'insert') return rowsIn(context, one.target, given)
        return typeof given === 'boolean' ? 1 : objectsOf(given).length
      }),
    )
    .reduce((sum, count) => sum + count, 0)

const setOf =
  (set: Json | undefined): Argument =>
  (name) =>
    name === 'set' ? set : undefined

/** Everything that is refused before execution. */
export function checkRelated(context: Context, table: ApiTable, arg: Argument): readonly string[] {
  const related = arg('related')
  const fields = namedFields(context, table, related)
  return [
    ...checkOwn(context, table, fields, arg),
    ...fields.flatMap((field) => {
      const members = namedMembers(field, related)
      const [first, second] = members
      const isTwofold = !field.relation.many && second !== undefined
      return [
        ...(isTwofold ? [`Only one of "${first}" and "${second}" can be given`] : []),
        ...members.flatMap((member) => checkMember(context, field, member, memberOf(related, field.name))),
      ]
    }),
  ]
}

/** Columns of the row itself that are given twice. */
function checkOwn(
  context: Context,
  table: ApiTable,
  fields: readonly ChangedField[],
  arg: Argument,
): readonly string[] {
  const given = fields.flatMap((field) =>
    columnsGiven(field, namedMembers(field, arg('related'))).map((column) => ({ column, name: field.name })),
  )
  return reasonsOf(() => {
    const own = [...readNamed(context.world, table, arg)].map(([column, { field }]) => ({ column, name: field }))
    const all = [...own, ...given]
    const twice = all.flatMap(({ column, name }, index) => {
      const before = all.slice(0, index).findLast((one) => one.column === column)
      return before === undefined ? [] : [`The column "${column}" is given by "${before.name}" and by "${name}"`]
    })
    if (twice.length > 0) throw new Refused(...twice)
  })
}

function columnsGiven({ relation, nullable }: ChangedField, members: readonly RelatedMember[]): readonly string[] {
  if (relation.direction === 'reverse') return []
  if (members.includes('insert') || members.includes('connect')) return relation.local
  return members.includes('disconnect') || members.includes('delete') ? nullable : []
}

function checkMember(
  context: Context,
  field: ChangedField,
  member: RelatedMember,
  holder: Json | undefined,
): readonly string[] {
  const { name, relation, target, keys } = field
  const given = memberOf(holder, member)
  const { world } = context
  if (member === 'insert') {
    const outer = relation.direction === 'forward' ? null : { name, columns: relation.foreign }
    return [
      ...objectsOf(given).flatMap((object) => checkObject(context, target, object, outer)),
      ...checkConflict(context, field, [{ [name]: holder ?? null }]),
    ]
  }
  if (member === 'update')
    return reasonsOf(() =>
      relation.many
        ? readRows(world, target, (one) => (one === 'rows' ? given : undefined))
        : readChanges(world, target, setOf(given)),
    )
  const texts = keys.map((key) => `{${[...key.keys()].join(', ')}}`).join(', ')
  return objectsOf(given).some((object) => keyOf(field, object) === undefined)
    ? [`"${member}" takes the columns of one key: ${texts}`]
    : []
}

/** The writes; the record is the final row, if the caller sees it. */
export function updateRelated(context: Context, store: Store, field: RowWrite, arg: Argument): Written {
  const { world, claims } = context
  const { table } = field
  const related = arg('related')
  const fields = namedFields(context, table, related)
  const given = (one: ChangedField, member: RelatedMember): Json | undefined =>
    memberOf(memberOf(related, one.name), member)
  const has = (one: ChangedField, member: RelatedMember): boolean => namedMembers(one, related).includes(member)
  const forward = fields.filter(({ relation }) => relation.direction === 'forward')
  const named = readNamed(world, table, arg)
  const isSet = named.size > 0 || forward.some((one) => !has(one, 'update'))
  const isFound = !isSet || forward.some((one) => has(one, 'update') || has(one, 'delete'))
  const rowNow = (): Row => {
    const [row] = reachable(context, after, field, 'update', arg, undefined)
    if (row === undefined) throw new Refused('There is no such row to update')
    return row
  }
  let after = store
  const before = isFound ? rowNow() : null
  const links = new Map<string, Value>()
  let isLost = false
  for (const one of forward) {
    const { relation, target } = one
    const link = (row: Row): void =>
      relation.local.forEach((name, index) => {
        const value = row.get(relation.foreign[index] ?? '') ?? null
        links.set(name, value)
        if (value === null) isLost = true
      })
    if (has(one, 'insert')) {
      const objects = objectsOf(given(one, 'insert'))
      const conflict = conflictOf(context, after, target, memberOf(related, one.name))
      const made = insertPlace(context, after, target, objects, { conflict, isParent: true })
      after = made.store
      link(made.records[0] ?? new Map())
    } else if (has(one, 'connect')) {
      link(found(context, after, one, objectsOf(given(one, 'connect'))[0] ?? {}))
    } else if (has(one, 'update')) {
      const changes = readChanges(world, target, setOf(given(one, 'update')))
      after = changeRows(context, after, one, belonging(context, after, one, before, 'update'), changes, 1)
    } else for (const name of one.nullable) links.set(name, null)
  }
  const linked = [...links].map(([name, value]): readonly [string, Change] => [name, () => value])
  const own = isSet
    ? new Map([...[...named].map(([name, one]) => [name, one.change] as const), ...linked])
    : new Map<string, Change>()
  let row = before ?? new Map<string, Value>()
  if (isSet) {
    const lost = isLost ? [nullReferred] : []
    const changed = change(context, after, table, new Map([[rowNow(), withPresets(context, table, own)]]), () => lost)
    after = changed.store
    row = changed.records[0] ?? row
  }
  for (const one of fields.filter(({ relation }) => relation.direction === 'reverse'))
    for (const member of ['disconnect', 'delete', 'update', 'connect', 'insert'] as const)
      if (has(one, member)) after = changeChildren(context, after, one, row, member, memberOf(related, one.name))
  for (const one of forward.filter((field) => has(field, 'delete'))) {
    const gone = belonging(context, after, one, before, 'delete')
    after = removeAll(context, after, one.target, gone, missing(gone.length, 1)).store
  }
  const key = table.key.map(({ name }) => name)
  const there = visibleRows(after, table.sketch, claims).find((one) => isSame(world, table.sketch, key, row, key, one))
  return { store: after, records: there === undefined ? [] : [there] }
}

const missing = (count: number, wanted: number, connects = false): readonly string[] =>
  count === wanted ? [] : [connects ? noneToConnect : noneRelated]

const noneToConnect = 'There is no such row to connect'
const noneRelated = 'There is no such related row'

/** The child rows or the parent row, if the caller may see and change them. */
const belonging = (
  { world, claims }: Context,
  store: Store,
  { relation, target }: ChangedField,
  row: Row | null,
  command: 'update' | 'delete',
): readonly Row[] =>
  visibleRows(store, target.sketch, claims)
    .filter((other) => allowsIn(store, target.sketch, claims, command, other))
    .filter((other) => row !== null && isSame(world, target.sketch, relation.foreign, other, relation.local, row))

/** One statement that changes rows equally; `wanted` is their required number. */
const changeRows = (
  context: Context,
  store: Store,
  field: ChangedField,
  rows: readonly Row[],
  changes: ReadonlyMap<string, Change>,
  wanted: number,
  connects = false,
): Store =>
  change(
    context,
    store,
    field.target,
    new Map(rows.map((row) => [row, withPresets(context, field.target, changes)])),
    (changed) => [
      ...missing(changed.length, wanted, connects),
      // Null refers to no row.
      ...(connects && changed.some((row) => field.relation.foreign.some((name) => (row.get(name) ?? null) === null))
        ? [nullReferred]
        : []),
    ],
  ).store

function changeChildren(
  context: Context,
  store: Store,
  field: ChangedField,
  row: Row,
  member: RelatedMember,
  holder: Json | undefined,
): Store {
  const { world } = context
  const { relation, target, keys } = field
  const given = memberOf(holder, member)
  if (member === 'insert') {
    const objects = objectsOf(given)
    const link = new Map(relation.foreign.map((name, index) => [name, row.get(relation.local[index] ?? '') ?? null]))
    const around = objects.map(() => link)
    return insertPlace(context, store, target, objects, {
      conflict: conflictOf(context, store, target, holder),
      isParent: false,
      around,
    }).store
  }
  if (member === 'update') {
    if (!relation.many)
      return changeRows(
        context,
        store,
        field,
        belonging(context, store, field, row, 'update'),
        readChanges(world, target, setOf(given)),
        1,
      )
    return updateChildren(context, store, field, row, given)
  }
  const values = relation.foreign.map((name, index): readonly [string, Change] => {
    const value = row.get(relation.local[index] ?? '') ?? null
    return [name, () => value]
  })
  const changes = new Map(
    member === 'connect' ? values : field.nullable.map((name): readonly [string, Change] => [name, () => null]),
  )
  const command = member === 'delete' ? 'delete' : 'update'
  const write = (at: Store, rows: readonly Row[], wanted: number): Store =>
    member === 'delete'
      ? removeAll(context, at, target, rows, missing(rows.length, wanted)).store
      : changeRows(context, at, field, rows, changes, wanted, member === 'connect')
  const ofRow = (at: Store): readonly Row[] => belonging(context, at, field, row, command)
  if (typeof given === 'boolean') return write(store, ofRow(store), 1)
  let after = store
  for (const key of keys) {
    const objects = objectsOf(given).filter((object) => keyOf(field, object) === key)
    if (objects.length === 0) continue
    checkTwins(context, key, objects)
    const meant = objects.flatMap((object) =>
      reachable(context, after, { table: target, key }, command, (name) => object[name], undefined),
    )
    const candidates = ofRow(after)
    after = write(after, member === 'connect' ? meant : meant.filter((one) => candidates.includes(one)), objects.length)
  }
  return after
}

/** Each with its own values. */
function updateChildren(context: Context, store: Store, field: ChangedField, row: Row, given: Json | undefined): Store {
  const key = field.rowKey ?? new Map<string, ColumnSketch>()
  const rows = readRows(context.world, field.target, (name) => (name === 'rows' ? given : undefined))
  checkTwins(
    context,
    key,
    rows.map((one) => one.given),
  )
  const candidates = belonging(context, store, field, row, 'update')
  const affected = rows.flatMap(({ given: object, changes }) =>
    reachable(context, store, { table: field.target, key }, 'update', (name) => object[name], undefined)
      .filter((one) => candidates.includes(one))
      .map((one) => [one, withPresets(context, field.target, changes)] as const),
  )
  return change(context, store, field.target, new Map(affected), (changed) => missing(changed.length, rows.length))
    .store
}

/** @throws Refused if two objects have one key; one with a null matches no row */
function checkTwins({ world }: Context, key: ReadonlyMap<string, ColumnSketch>, objects: readonly Fields[]): void {
  const values = objects.map((object) =>
    [...key].map(([name, { type }]) => [type, readCompared(world, type, object[name] ?? null)] as const),
  )
  const twin = values.find((one, index) =>
    values
      .slice(index + 1)
      .some((other) => one.every(([type, value], place) => isEqual(world, type, value, other[place]?.[1] ?? null))),
  )
  if (twin === undefined) return
  const hasNull = twin.some(([, value]) => value === null)
  throw new Refused('Two of the rows have the same key', ...(hasNull ? [noneToConnect, noneRelated] : []))
}

const isEqual = (world: World, type: ColumnType, one: Value, other: Value): boolean =>
  one === null || other === null ? one === other : compareValues(world, type, one, other) === 0
