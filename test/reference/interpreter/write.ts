import type { ApiTable, RowWrite } from './api-types.ts'
import { presetValue } from './access.ts'
import { readChanges, readNamed, type Change } from './changes.ts'
import { isSame, removeRows, requireValid, violations } from './constraints.ts'
import { amongMeant, isMeant, markChange, mayBeDeleted } from './deleted.ts'
import { surroundingsOf, type Context } from './context.ts'
import { readInput, type Condition } from './conditions.ts'
import { readFilter } from './filter.ts'
import type { Claims } from './policies.ts'
import type { Surroundings } from './related.ts'
import { Refused } from './refusal.ts'
import { allowsIn, mayLackKey, rowsOf, visibleRows, withRows, type Row, type Store } from './store.ts'
import { compareValues, readCompared } from './types.ts'
import type { ColumnSketch, Json, TableSketch, UniqueSketch, Value, World } from './world.ts'

/**
 * The result of one mutation: the store after it and its rows, changed ones in the new state, deleted ones in the old.
 */
export interface Written {
  readonly store: Store
  readonly records: readonly Row[]
}

type Argument = (name: string) => Json | undefined
type Cells = ReadonlyMap<string, Value>

const policyViolated = '42501'

const asList = (input: Json): readonly Json[] => (Array.isArray(input) ? input : [input])

export function readCells(world: World, inputs: ReadonlyMap<string, ColumnSketch>, input: Json): Cells {
  return new Map(
    Object.entries(input as Record<string, Json>).map(([field, value]) => {
      const column = inputs.get(field)
      if (column === undefined) throw new Error(`there is no input ${field}`)
      return [column.name, readInput(world, column.type, value)]
    }),
  )
}

export function readObjects(world: World, table: ApiTable, arg: Argument): readonly Cells[] {
  const objects = asList(arg('objects') ?? [])
  if (objects.length === 0) throw new Refused('At least one record must be provided to objects')
  return objects.map((object) => readCells(world, table.inserts, object))
}

/** The owner's values of columns (spec/graphql.md 17.5). */
const presetCells = ({ claims }: Context, table: ApiTable, command: 'insert' | 'update'): Cells =>
  new Map([...table.presets[command]].map(([name, preset]) => [name, presetValue(preset, claims)]))

/** The changes of a document, with those of the owner. */
export const withPresets = (
  context: Context,
  table: ApiTable,
  changes: ReadonlyMap<string, Change>,
): ReadonlyMap<string, Change> =>
  new Map([
    ...changes,
    ...[...presetCells(context, table, 'update')].map(([name, value]) => [name, () => value] as const),
  ])

export interface Conflict {
  readonly unique: UniqueSketch
  /** Columns that the row takes over; none: it is unchanged. */
  readonly update: readonly string[]
  readonly condition: Condition | null
}

/** `onConflict` (spec/graphql.md 17). */
export function readConflict(around: Surroundings, table: ApiTable, arg: Argument): Conflict | null {
  const given = arg('onConflict') as Readonly<Record<string, Json>> | null | undefined
  if (given === null || given === undefined) return null
  const unique = table.conflicts.get(String(given['constraint']))
  if (unique === undefined) throw new Error(`${table.type} has no unique key ${String(given['constraint'])}`)
  const update = asList(given['updateFields'] ?? []).map((field) => table.takeovers.get(String(field))?.name ?? '')
  if (update.length === 0) return { unique, update, condition: null }
  return { unique, update, condition: amongMeant(table, given['deleted'], readFilter(around, table, given['filter'])) }
}

/** spec/graphql.md 10.2: an absent column takes its default, an explicit null does not. */
export function insert(context: Context, store: Store, table: ApiTable, arg: Argument, selects: boolean): Written {
  const objects = readObjects(context.world, table, arg)
  const conflict = readConflict(surroundingsOf(context, store), table, arg)
  return putRows(context, store, table, objects, conflict, { reads: selects, needsAll: false })
}

interface Wanted {
  /** Whether columns of the new rows are read; `onConflict` always reads some (spec/graphql.md 10.5). */
  readonly reads: boolean
  /** Whether other rows depend on each of them (spec/graphql.md 17.6). */
  readonly needsAll: boolean
}

export const putRows = (
  context: Context,
  store: Store,
  table: ApiTable,
  objects: readonly Cells[],
  conflict: Conflict | null,
  { reads, needsAll }: Wanted,
): Written =>
  conflict === null
    ? addRows(context, store, table, objects, reads)
    : upsert(context, store, table, withOwners(context, table, objects), conflict, needsAll)

/** Rows with the owner's values. */
const withOwners = (context: Context, table: ApiTable, objects: readonly Cells[]): readonly Cells[] =>
  objects.map((given) => new Map([...given, ...presetCells(context, table, 'insert')]))

/** New rows, in one statement. */
function addRows(context: Context, store: Store, table: ApiTable, objects: readonly Cells[], reads: boolean): Written {
  const { world, claims } = context
  let after = store
  const records = withOwners(context, table, objects).map((given) => {
    const { row, next } = newRow(table, after, given)
    after = { ...withRows(after, table.sketch.name, [...rowsOf(after, table.sketch.name), row]), next }
    return row
  })
  requireValid(world, after, ...refusedByPolicy(store, table, claims, 'insert', records, reads))
  return { store: after, records }
}

/** Row by row: a violation is noticed before the next row; foreign keys and unchanged rows are checked at the end. */
function upsert(
  context: Context,
  store: Store,
  table: ApiTable,
  objects: readonly Cells[],
  conflict: Conflict,
  needsAll: boolean,
): Written {
  const { world, claims } = context
  const { name } = table.sketch
  const records: Row[] = []
  let after = store
  for (const given of objects) {
    const { row, next } = newRow(table, after, given)
    after = { ...after, next }
    const refused = [
      ...refusedByPolicy(after, table, claims, 'insert', [row]),
      ...brokenAlone(world, table.sketch, row),
    ]
    if (refused.length > 0) throw new Refused(...refused)
    const there = rowsOf(after, name).find((other) => conflictsWith(world, table.sketch, conflict.unique, row, other))
    const step =
      there === undefined ? { row, gone: null } : takeOver(context, after, table, conflict, row, there, records)
    if (step === null) continue
    const others = rowsOf(after, name).filter((other) => other !== step.gone)
    after = withRows(after, name, [...others, step.row])
    records.push(step.row)
    const broken = violations(world, after).filter((state) => state !== '23503')
    if (broken.length > 0) throw new Refused(...broken)
  }
  const isMissed = needsAll && records.length < objects.length
  requireValid(world, after, ...(isMissed ? ['A row that others depend on was not inserted'] : []))
  return { store: after, records }
}

/** The faults of a row on its own. */
const brokenAlone = (world: World, table: TableSketch, row: Row): readonly string[] =>
  violations(
    { ...world, tables: [{ ...table, foreignKeys: [] }] },
    { rows: new Map([[table.name, [row]]]), next: new Map() },
  )

/** Both rows stand in the index, or in one of the same columns that holds for all rows. */
function conflictsWith(world: World, table: TableSketch, unique: UniqueSketch, row: Row, other: Row): boolean {
  const sameColumns = [{ columns: table.primaryKey, where: null }, ...table.uniques].filter(
    ({ columns, where }) =>
      columns.length === unique.columns.length &&
      columns.every((column) => unique.columns.includes(column)) &&
      (where === null || where === unique.where),
  )
  return sameColumns.some(
    ({ columns, where }) =>
      (where === null || (row.get(where) === true && other.get(where) === true)) &&
      isSame(world, table, columns, row, columns, other),
  )
}

interface Step {
  readonly row: Row
  readonly gone: Row | null
}

/** Null: the existing row is unchanged. */
function takeOver(
  context: Context,
  store: Store,
  table: ApiTable,
  { update: columns, condition }: Conflict,
  row: Row,
  there: Row,
  touched: readonly Row[],
): Step | null {
  if (columns.length === 0) return null
  // A row that the same insert made or changed is not changed again.
  if (touched.includes(there)) throw new Refused('21000')
  if (condition !== null && condition(there) !== true) return null
  const { claims } = context
  const changed = new Map([
    ...there,
    ...columns.map((name) => [name, row.get(name) ?? null] as const),
    ...presetCells(context, table, 'update'),
  ])
  const mayBeChanged =
    allowsIn(store, table.sketch, claims, 'update', there) && allowsIn(store, table.sketch, claims, 'select', there)
  const refused = mayBeChanged ? refusedByPolicy(store, table, claims, 'update', [changed]) : [policyViolated]
  if (refused.length > 0) throw new Refused(...refused)
  return { row: changed, gone: there }
}

function newRow(table: ApiTable, store: Store, given: Cells): { readonly row: Row; readonly next: Store['next'] } {
  const { name, columns } = table.sketch
  const identity = store.next.get(name) ?? 0
  const counts = columns.some((column) => column.fallback.kind === 'identity')
  const row = new Map(columns.map((column) => [column.name, cell(column, given, identity)]))
  return { row, next: counts ? new Map([...store.next, [name, identity + 1]]) : store.next }
}

function cell({ name, fallback }: ColumnSketch, given: Cells, identity: number): Value {
  const value = given.get(name)
  if (value !== undefined) return value
  if (fallback.kind === 'none') return null
  return fallback.kind === 'identity' ? identity : fallback.value
}

/**
 * A written row must pass the policies of its command and, if its columns are read, those of reading (spec/graphql.md
 * 10.5).
 */
const refusedByPolicy = (
  store: Store,
  table: ApiTable,
  claims: Claims,
  command: 'insert' | 'update',
  rows: readonly Row[],
  reads: boolean = true,
): readonly string[] =>
  rows.every(
    (row) =>
      allowsIn(store, table.sketch, claims, command, row) &&
      (!reads || allowsIn(store, table.sketch, claims, 'select', row)),
  )
    ? []
    : [policyViolated]

interface Affected {
  readonly rows: readonly Row[]
  /** Whether the statement reads columns of them, so that policies of reading apply, too (spec/graphql.md 10.5). */
  readonly reads: boolean
}

/** @param changeReads whether selections or changes read columns */
function affectedRows(
  context: Context,
  store: Store,
  table: ApiTable,
  arg: Argument,
  command: 'update' | 'delete',
  changeReads: boolean,
): Affected {
  const { claims } = context
  const filter = readFilter(surroundingsOf(context, store), table, arg('filter'))
  const condition = amongMeant(table, arg('deleted'), filter)
  const reads =
    changeReads ||
    filter !== null ||
    mayLackKey(table.sketch) ||
    (mayBeDeleted(table.sketch) && arg('deleted') !== 'WITH')
  const rows = visibleRows(store, table.sketch, claims, command)
    .filter((row) => !reads || allowsIn(store, table.sketch, claims, 'select', row))
    .filter((row) => condition(row) === true)
  return { rows, reads }
}

const tooMany = (command: 'update' | 'delete', rows: readonly Row[], arg: Argument): readonly string[] =>
  rows.length > Number(arg('atMost') ?? 1) ? [`${command} impacts too many records`] : []

/** spec/graphql.md 10.3, 17.4. */
export function update(context: Context, store: Store, table: ApiTable, arg: Argument, selects: boolean): Written {
  const changes = withPresets(context, table, readChanges(context.world, table, arg))
  const operates = [...readNamed(context.world, table, arg).values()].some(({ by }) => by !== 'set')
  const { rows, reads } = affectedRows(context, store, table, arg, 'update', selects || operates)
  const check = (changed: readonly Row[]) => tooMany('update', changed, arg)
  return change(context, store, table, new Map(rows.map((row) => [row, changes])), check, reads)
}

/** Changes rows, each by its own changes; the records come in this order. */
export function change(
  { world, claims, meanwhile }: Context,
  store: Store,
  table: ApiTable,
  affected: ReadonlyMap<Row, ReadonlyMap<string, Change>>,
  check: (changed: readonly Row[]) => readonly string[],
  reads: boolean = true,
): Written {
  const faults: string[] = []
  const changed = new Map(
    [...affected].map(([row, changes]) => {
      const cells = [...changes].map(([name, newValue]): readonly [string, Value] => {
        try {
          return [name, newValue(row)]
        } catch (error) {
          if (!(error instanceof Refused)) throw error
          faults.push(...error.reasons)
          return [name, row.get(name) ?? null]
        }
      })
      return [row, new Map([...row, ...cells])]
    }),
  )
  const after = withRows(
    store,
    table.sketch.name,
    rowsOf(store, table.sketch.name).map((row) => changed.get(row) ?? row),
  )
  const records = [...changed.values()]
  if (clashes(world, table.sketch, changed)) meanwhile.add('23505')
  const refused = refusedByPolicy(store, table, claims, 'update', records, reads)
  requireValid(world, after, ...faults, ...refused, ...check(records))
  return { store: after, records }
}

/** Whether some row gets another's former key, which is refused unless that one is changed first. */
const clashes = (world: World, table: TableSketch, changed: ReadonlyMap<Row, Row>): boolean =>
  [{ columns: table.primaryKey }, ...table.uniques].some(({ columns }) =>
    [...changed].some(([row, now]) =>
      [...changed.keys()].some((other) => other !== row && isSame(world, table, columns, now, columns, other)),
    ),
  )

/** spec/graphql.md 10.4 and 10.5. */
export function remove(context: Context, store: Store, table: ApiTable, arg: Argument, selects: boolean): Written {
  const { rows, reads } = affectedRows(context, store, table, arg, deletingCommand(table), selects)
  return removeAll(context, store, table, rows, tooMany('delete', rows, arg), reads)
}

/** The command whose policies apply to deletions. */
const deletingCommand = ({ sketch }: ApiTable): 'update' | 'delete' => (mayBeDeleted(sketch) ? 'update' : 'delete')

export function removeAll(
  context: Context,
  store: Store,
  table: ApiTable,
  records: readonly Row[],
  faults: readonly string[] = [],
  reads: boolean = true,
): Written {
  const { world } = context
  const mark = markChange(table.sketch)
  if (mark !== null) {
    const changes = new Map([...withPresets(context, table, new Map()), ...mark])
    return change(context, store, table, new Map(records.map((row) => [row, changes])), () => faults, reads)
  }
  const after = removeRows(world, store, table.sketch, records)
  requireValid(world, after, ...faults)
  return { store: after, records }
}

/** The row with these values of the key, if the caller may see and change it. */
export function reachable(
  { world, claims }: Context,
  store: Store,
  { table, key }: Pick<RowWrite, 'table' | 'key'>,
  command: 'update' | 'delete',
  valueOf: Argument,
  deleted: Json | undefined,
): readonly Row[] {
  const wanted = [...key].map(
    ([field, { name, type }]) => [name, type, readCompared(world, type, valueOf(field) ?? null)] as const,
  )
  const hasKey = (row: Row): boolean =>
    wanted.every(([name, type, value]) => {
      const present = row.get(name) ?? null
      return present !== null && value !== null && compareValues(world, type, present, value) === 0
    })
  return visibleRows(store, table.sketch, claims)
    .filter((row) => allowsIn(store, table.sketch, claims, command, row) && isMeant(table.sketch, row, deleted))
    .filter(hasKey)
}

/** A row by a key (spec/graphql.md 17.4). */
export function writeRow(context: Context, store: Store, field: RowWrite, arg: Argument): Written {
  if (field.kind === 'deleteRow')
    return removeAll(
      context,
      store,
      field.table,
      reachable(context, store, field, deletingCommand(field.table), arg, undefined),
    )
  const changes = withPresets(context, field.table, readChanges(context.world, field.table, arg))
  const deleted = field.key.has('deleted') ? undefined : arg('deleted')
  const [row] = reachable(context, store, field, 'update', arg, deleted)
  return change(context, store, field.table, new Map(row === undefined ? [] : [[row, changes]]), () => [])
}

type Fields = Readonly<Record<string, Json>>

const emptySet = 'At least one mapping must be provided to set argument'

/** The objects of `rows` with their changes. */
export function readRows(
  world: World,
  table: ApiTable,
  arg: Argument,
): readonly { readonly given: Fields; readonly changes: ReadonlyMap<string, Change> }[] {
  const rows = asList(arg('rows') ?? []) as unknown as readonly Fields[]
  if (rows.length === 0) throw new Refused('At least one record must be provided to rows')
  const sets = rows.map(({ set }) => (set ?? {}) as Fields)
  if (sets.some((set) => Object.keys(set).length === 0)) throw new Refused(emptySet)
  // Columns missing in one of them are read.
  const { select } = table.grants
  const unread = [...table.updates].filter(([, { name }]) => select !== 'all' && !select.includes(name))
  const missed = unread.flatMap(([field]) => {
    const count = sets.filter((set) => Object.hasOwn(set, field)).length
    return count > 0 && count < rows.length
      ? [`The column "${field}" cannot be read, so that every one of the rows has to set it.`]
      : []
  })
  if (missed.length > 0) throw new Refused(...missed)
  // Lengths of values are checked when statements are bound, which is later.
  return rows.map((given) => ({
    given,
    changes: readChanges(world, table, (name) => (name === 'set' ? given['set'] : undefined)),
  }))
}

/** Many rows, each with its own values (spec/graphql.md 17.4). */
export function writeRows(context: Context, store: Store, field: RowWrite, arg: Argument): Written {
  const { world } = context
  const rows = readRows(world, field.table, arg)
  const keys = rows.map(({ given }) =>
    [...field.key].map(([name, { type }]) => [type, readCompared(world, type, given[name] ?? null)] as const),
  )
  const isTwin = (index: number): boolean =>
    keys
      .slice(index + 1)
      .some((other) =>
        other.every(
          ([type, value], place) => compareValues(world, type, value, keys[index]?.[place]?.[1] ?? null) === 0,
        ),
      )
  if (keys.some((_, index) => isTwin(index))) throw new Refused('Two of the rows have the same key')
  const affected = rows.flatMap(({ given, changes }) =>
    reachable(context, store, field, 'update', (name) => given[name], arg('deleted')).map(
      (row) => [row, withPresets(context, field.table, changes)] as const,
    ),
  )
  return change(context, store, field.table, new Map(affected), (changed) => tooMany('update', changed, arg))
}
