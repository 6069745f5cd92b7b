import { byField } from '../../../runtime/engine/visible.ts'
import { relationsBut, type Related } from '../../../runtime/engine/related.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import { badArgument } from '../../../runtime/graphql/protocol/failures.ts'
import { combined, planValue } from '../../../runtime/graphql/plan/conditions.ts'
import { inputValue, memberOf, slotOf, type Args, type Input } from '../../../runtime/graphql/plan/input.ts'
import { keyThere } from '../../../runtime/graphql/plan/joins.ts'
import { planPage, planTerm } from '../../../runtime/graphql/plan/order.ts'
import { planMembers, type Planner, type SelectedField } from '../../../runtime/graphql/plan/planner.ts'
import type {
  ConnectionMember,
  Filter,
  OrderKey,
  OrderTerm,
  Page,
  Typename,
} from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Encoding, Value } from '../../../runtime/graphql/plan/values.ts'
import {
  bucketsOf,
  figureType,
  groupFigureNames,
  recurringTimes,
  type BucketName,
  type GroupFigure,
  type RecurringMember,
  type RecurringTime,
  type TimeUnit,
} from './facts.ts'

declare module '../../../runtime/graphql/plan/plan-nodes.ts' {
  interface AddedConnectionMembers {
    readonly groups: { readonly kind: 'groups'; readonly key: string; readonly groups: Groups }
  }
}

/** Groups of all matching rows of a collection (spec/graphql.md 17.2). */
export interface Groups {
  /** The computed values of each group; other members refer to their ids. */
  readonly values: readonly GroupValue[]
  /** Conditions on the groups, whose columns are ids of values. */
  readonly having: Filter | null
  /** Of ids. */
  readonly order: readonly OrderTerm[]
  readonly page: Page
  readonly members: readonly GroupMember[]
  /** Arguments that no value depends on but that are checked. Absent: none. */
  readonly checked?: readonly Value[]
}

export type GroupValue = { readonly id: string } & (
  | { readonly kind: 'count' }
  | { readonly kind: 'figure'; readonly function: GroupFigure; readonly column: string }
  /** `at` is between 0 and 1. */
  | { readonly kind: 'percentile'; readonly at: Value; readonly column: string }
  /** Distinct values of a column in ascending order. */
  | { readonly kind: 'values'; readonly atMost: Value; readonly column: string }
  | GroupKey
)

/** A key of groups. */
export interface GroupKey {
  readonly kind: 'key'
  readonly of: OrderKey
  /** Absent: equal values form a group. */
  readonly unit?: TimeUnit
  /** Groups by the number of a recurring unit of time. */
  readonly recurring?: RecurringTime
  /** The width of the range of numbers that forms a group; absent: equal numbers. */
  readonly width?: Value
  /** The time zone of the unit; absent: that of the session. */
  readonly zone?: Value
}

export type GroupMember =
  | Typename
  | { readonly kind: 'value'; readonly key: string; readonly value: string }
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'object'; readonly key: string; readonly members: readonly GroupMember[] }

/** Columns that rows can be grouped by (spec/graphql.md 17.2), by field: pages of groups are sorted by them. */
export const groupColumns = (visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, ColumnFacts> =>
  byField(visible.orderable(entity))

/** To-one relations whose values rows can be grouped by. */
export const groupRelations = (visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, Related> =>
  new Map(
    [...relationsBut(visible, entity, [...groupColumns(visible, entity).keys()])].filter(
      ([, { relation, target }]) => relation.shape === 'one' && relation.unique && visible.orderable(target).length > 0,
    ),
  )

/** Whether rows can be grouped by such a column, here or over relations, which may be cyclic. */
export function reachesKey(
  visible: RoleVisibility,
  entity: EntityFacts,
  isSuch: (column: ColumnFacts) => boolean,
  seen: Set<EntityFacts> = new Set(),
): boolean {
  if (seen.has(entity)) return false
  seen.add(entity)
  return (
    [...groupColumns(visible, entity).values()].some(isSuch) ||
    [...groupRelations(visible, entity).values()].some(({ target }) => reachesKey(visible, target, isSuch, seen))
  )
}

/** Columns that have a figure (spec/graphql.md 6, 17.2). */
export const figureColumns = (
  visible: RoleVisibility,
  entity: EntityFacts,
  name: GroupFigure,
): readonly ColumnFacts[] =>
  entity.columns.filter((column) => figureType(column, name) !== null && visible.seesColumn(entity, column))

/** A sum of money does not fit the type of its filter. */
export const comparedFigures = (
  visible: RoleVisibility,
  entity: EntityFacts,
  name: GroupFigure,
): readonly ColumnFacts[] =>
  figureColumns(visible, entity, name).filter(
    ({ type }) => name !== 'sum' || type?.kind !== 'scalar' || type.name !== 'Opaque',
  )

/** Numeric columns, which have percentiles. */
export const measuredColumns = (visible: RoleVisibility, entity: EntityFacts): readonly ColumnFacts[] =>
  figureColumns(visible, entity, 'sum').filter(isMeasured)

/** Columns whose distinct values groups can list. */
export const listedColumns = (visible: RoleVisibility, entity: EntityFacts): readonly ColumnFacts[] =>
  figureColumns(visible, entity, 'countDistinct')

export const isMeasured = ({ aggregate, type }: ColumnFacts): boolean =>
  aggregate.sum !== null && type?.kind === 'scalar' && type.name !== 'Opaque'

/** The members of a group that are its keys. */
type KeyMember = 'key' | RecurringMember

const groupKeyId = (member: KeyMember, path: readonly string[]): string => [member, ...path].join('.')

const shownKey = (member: KeyMember, path: readonly string[]): string =>
  member === 'key' ? path.join('.') : groupKeyId(member, path)

const notAKey = (member: KeyMember, path: readonly string[]): Error =>
  badArgument(`Rows are not grouped by "${shownKey(member, path)}"`)

/** By id. Null equals absence, as for directions (spec/graphql.md 5.4). */
function planKeys(planner: Planner, entity: EntityFacts, args: Args): ReadonlyMap<string, GroupKey> {
  const keys = new Map<string, GroupKey>()
  const widths = new Map(
    widthsIn(args('widths'), []).map(({ path, width }) => [groupKeyId('key', path), { path, width }]),
  )
  const zone = valueIn(args('timeZone'), { kind: 'scalar', maxLength: null })
  const add = (path: readonly string[], column: ColumnFacts, of: OrderKey, bucket: BucketName): void => {
    const step = stepOf(column, bucket, zone)
    const member = step.recurring === undefined ? 'key' : recurringTimes[step.recurring].member
    const id = groupKeyId(member, path)
    if (keys.has(id)) throw badArgument(`Rows can be grouped by "${shownKey(member, path)}" once`)
    const width = widths.get(id)?.width
    keys.set(id, { kind: 'key', of, ...step, ...(width !== undefined && { width }) })
  }
  const walk = (here: EntityFacts, given: Input, path: readonly string[], from: (key: OrderKey) => OrderKey): void => {
    if (given.kind !== 'object') return
    const [columns, relations] = [groupColumns(planner.visible, here), groupRelations(planner.visible, here)]
    for (const [name, value] of given.fields) {
      const inner = [...path, name]
      const column = columns.get(name)
      if (column !== undefined) {
        if (value.kind === 'leaf') add(inner, column, from(column.column), inputValue(value) as BucketName)
        continue
      }
      const related = relations.get(name)
      if (related === undefined) continue
      planner.countRelated()
      const there = keyThere(planner, related)
      walk(related.target, value, inner, (key) => from(there(key)))
    }
  }
  const by = args('by')
  for (const item of by.kind === 'list' ? by.items : []) walk(entity, item, [], (key) => key)
  for (const [id, { path }] of widths) if (!keys.has(id)) throw notAKey('key', path)
  return keys
}

function stepOf(
  column: ColumnFacts,
  bucket: BucketName,
  zone: Value | undefined,
): Pick<GroupKey, 'unit' | 'recurring' | 'zone'> {
  const { units, recurring } = bucketsOf(column)
  const [unit, time] = [units.find((one) => one === bucket), recurring.find((one) => one === bucket)]
  if (unit === undefined && time === undefined) return {}
  return {
    ...(unit !== undefined && { unit }),
    ...(time !== undefined && { recurring: time }),
    ...(zone !== undefined && { zone }),
  }
}

const valueIn = (input: Input, encoding: Encoding): Value | undefined =>
  input.kind === 'leaf' ? { slot: input.slot, encoding } : undefined

interface Width {
  readonly path: readonly string[]
  readonly width: Value
}

function widthsIn(input: Input, path: readonly string[]): readonly Width[] {
  if (input.kind === 'object') return input.fields.flatMap(([name, value]) => widthsIn(value, [...path, name]))
  const width = valueIn(input, { kind: 'width' })
  return width === undefined ? [] : [{ path, width }]
}

/** The context in which the parts of groups are planned. */
interface GroupPlan {
  readonly planner: Planner
  readonly entity: EntityFacts
  /** Whether the value with this id is a key of the groups. */
  readonly isKey: (id: string) => boolean
  /** Registers the value, once however often it is used, and returns its id. */
  readonly named: (value: GroupValue) => string
  /** Registers an argument that must be checked although no value depends on it. */
  readonly check: (value: Value) => void
}

const asFigure = (name: string): GroupFigure | undefined => groupFigureNames.find((figure) => figure === name)

const figureId = ({ named }: GroupPlan, name: GroupFigure, field: string, { column }: ColumnFacts): string =>
  named({ id: `${name}.${field}`, kind: 'figure', function: name, column })

const countId = ({ named }: GroupPlan): string => named({ id: 'count', kind: 'count' })

/** The figures of a function that an input names, with the input of each. */
function figuresIn<T>(
  { planner, entity }: GroupPlan,
  name: GroupFigure,
  input: Input,
  say: (field: string, column: ColumnFacts, value: Input) => readonly T[],
): readonly T[] {
  if (input.kind !== 'object') return []
  const columns = byField(figureColumns(planner.visible, entity, name))
  return input.fields.flatMap(([field, value]) => {
    const column = columns.get(field)
    return column === undefined ? [] : say(field, column, value)
  })
}

/** @throws Refusal if it is not a key of the groups */
function demandKey({ isKey }: GroupPlan, member: KeyMember, path: readonly string[]): string {
  const id = groupKeyId(member, path)
  if (!isKey(id)) throw notAKey(member, path)
  return id
}

/** The percentiles that an input names, with the input of each. */
function percentilesIn<T>(
  planned: GroupPlan,
  input: Input,
  say: (idOf: () => string, value: Input) => readonly T[],
): readonly T[] {
  const of = memberOf(input, 'of')
  if (of.kind !== 'object') return []
  const columns = byField(measuredColumns(planned.planner.visible, planned.entity))
  const at = partIn(memberOf(input, 'at'))
  return of.fields.flatMap(([field, value]) => {
    const column = columns.get(field)
    return column === undefined ? [] : say(() => percentileId(planned, at, field, column), value)
  })
}

const partIn = (at: Input): Value => ({ slot: slotOf(at), encoding: { kind: 'part' } })

const percentileId = ({ named }: GroupPlan, at: Value, field: string, { column }: ColumnFacts): string =>
  named({ id: `percentile.${JSON.stringify(at.slot)}.${field}`, kind: 'percentile', at, column })

/** Groups of a collection's rows (spec/graphql.md 17.2). Values have their names in the answer: `sum.price`. */
function planGroups(planner: Planner, entity: EntityFacts, selected: SelectedField): ConnectionMember {
  const args = planner.args(selected)
  const keys = planKeys(planner, entity, args)
  if (keys.size === 0) throw badArgument('At least one field must be provided to by')
  const values = new Map<string, GroupValue>([...keys].map(([id, key]) => [id, { id, ...key }]))
  const checked: Value[] = []
  const planned: GroupPlan = {
    planner,
    entity,
    isKey: (id) => keys.has(id),
    named: (value) => {
      values.set(value.id, value)
      return value.id
    },
    check: (value) => void checked.push(value),
  }
  const order = [...planOrder(planned, args('orderBy')), ...[...keys.keys()].map(ascending)]
  const having = planHaving(planned, args('having'))
  const page = planPage(entity, order, args)
  const members = planGroup(planned, selected)
  const groups = { values: [...values.values()], having, order, page, members, ...(checked.length > 0 && { checked }) }
  return { kind: 'groups', key: selected.key, groups }
}

const ascending = (id: string): OrderTerm => ({ column: id, descending: false, nullsFirst: false })

function planOrder(planned: GroupPlan, input: Input): readonly OrderTerm[] {
  const objects = input.kind === 'list' ? input.items : []
  return objects.flatMap((object) =>
    object.kind === 'object' ? object.fields.flatMap(([name, value]) => planTerms(planned, name, value)) : [],
  )
}

function planTerms(planned: GroupPlan, name: string, input: Input): readonly OrderTerm[] {
  if (name === 'count') return input.kind === 'leaf' ? planTerm(countId(planned), input) : []
  if (name === 'percentile')
    return percentilesIn<OrderTerm>(planned, input, (idOf, direction) =>
      direction.kind === 'leaf' ? planTerm(idOf(), direction) : [],
    )
  const figure = asFigure(name)
  if (figure === undefined) return planKeyTerms(planned, name as KeyMember, [], input)
  return figuresIn<OrderTerm>(planned, figure, input, (field, column, direction) =>
    direction.kind === 'leaf' ? planTerm(figureId(planned, figure, field, column), direction) : [],
  )
}

function planKeyTerms(
  planned: GroupPlan,
  member: KeyMember,
  path: readonly string[],
  input: Input,
): readonly OrderTerm[] {
  if (input.kind === 'object')
    return input.fields.flatMap(([name, value]) => planKeyTerms(planned, member, [...path, name], value))
  return input.kind === 'leaf' ? planTerm(demandKey(planned, member, path), input) : []
}

function planHaving(planned: GroupPlan, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  return combined(
    'all',
    input.fields.flatMap(([name, value]) => planCondition(planned, name, value) ?? []),
  )
}

function planCondition(planned: GroupPlan, name: string, input: Input): Filter | null {
  if (name === 'and' || name === 'or') {
    const items = input.kind === 'list' ? input.items : []
    const of = items.flatMap((item) => planHaving(planned, item) ?? [])
    return combined(name === 'and' ? 'all' : 'any', of)
  }
  if (name === 'not') {
    const of = planHaving(planned, input)
    return of === null ? null : { kind: 'not', of }
  }
  const figure = asFigure(name)
  if (name !== 'count' && name !== 'percentile' && figure === undefined) return null
  const conditions =
    figure !== undefined
      ? figuresIn<Filter>(planned, figure, input, (field, column, value) =>
          planCompared(() => figureId(planned, figure, field, column), value),
        )
      : name === 'count'
        ? planCompared(() => countId(planned), input)
        : percentilesIn<Filter>(planned, input, (idOf, value) => planCompared(idOf, value))
  return combined('all', conditions)
}

/** The conditions on a value of a group, if any. */
function planCompared(idOf: () => string, input: Input): readonly Filter[] {
  if (input.kind !== 'object' || input.fields.length === 0) return []
  const subject = { column: idOf() }
  const condition = planValue({ subject, form: undefined, list: false, geo: false }, input)
  return condition === null ? [] : [condition]
}

function planGroup(planned: GroupPlan, groups: SelectedField): readonly GroupMember[] {
  const { planner } = planned
  const figures =
    (name: GroupFigure) =>
    (selected: SelectedField): GroupMember => ({
      kind: 'object',
      key: selected.key,
      members: planFigures(planned, name, selected),
    })
  const keys =
    (member: KeyMember) =>
    (selected: SelectedField): GroupMember => ({
      kind: 'object',
      key: selected.key,
      members: planKeyMembers(planned, member, [], selected),
    })
  return planMembers<GroupMember>(planner, groups, {
    key: keys('key'),
    ...Object.fromEntries(Object.values(recurringTimes).map(({ member }) => [member, keys(member)])),
    count: ({ key }) => ({ kind: 'value', key, value: countId(planned) }),
    cursor: ({ key }) => ({ kind: 'cursor', key }),
    percentile: (selected) => ({ kind: 'object', key: selected.key, members: planPercentiles(planned, selected) }),
    values: (selected) => ({ kind: 'object', key: selected.key, members: planListed(planned, selected) }),
    ...Object.fromEntries(groupFigureNames.map((name) => [name, figures(name)])),
  })
}

const membersOf = (
  { planner }: GroupPlan,
  selected: SelectedField,
  plan: (inner: SelectedField) => GroupMember,
): readonly GroupMember[] =>
  planner
    .fieldsOf(planner.objectType(selected), selected.nodes)
    .map((inner): GroupMember | Typename => (inner.kind === 'typename' ? inner : plan(inner)))

const planFigures = (planned: GroupPlan, name: GroupFigure, selected: SelectedField): readonly GroupMember[] =>
  planEach(
    planned,
    selected,
    (visible, entity) => figureColumns(visible, entity, name),
    (field, column) => figureId(planned, name, field, column),
  )

function planPercentiles(planned: GroupPlan, selected: SelectedField): readonly GroupMember[] {
  const at = partIn(planned.planner.args(selected)('at'))
  const idOf = (field: string, column: ColumnFacts): string => percentileId(planned, at, field, column)
  return checking(planned, at, planEach(planned, selected, measuredColumns, idOf))
}

function planListed(planned: GroupPlan, selected: SelectedField): readonly GroupMember[] {
  const atMost = { slot: slotOf(planned.planner.args(selected)('atMost')), encoding: { kind: 'most' } } as const
  const idOf = (field: string, { column }: ColumnFacts): string =>
    planned.named({ id: `values.${JSON.stringify(atMost.slot)}.${field}`, kind: 'values', atMost, column })
  return checking(planned, atMost, planEach(planned, selected, listedColumns, idOf))
}

/** The members of a field with an argument, which is checked with the statement that reads it. */
function checking(planned: GroupPlan, argument: Value, members: readonly GroupMember[]): readonly GroupMember[] {
  if (members.every(({ kind }) => kind === 'typename')) planned.check(argument)
  return members
}

/** Members that name columns. */
function planEach(
  planned: GroupPlan,
  selected: SelectedField,
  columnsOf: typeof measuredColumns,
  idOf: (field: string, column: ColumnFacts) => string,
): readonly GroupMember[] {
  const columns = byField(columnsOf(planned.planner.visible, planned.entity))
  return membersOf(planned, selected, ({ key, field }) => {
    const column = columns.get(field.name)
    if (column === undefined) throw new Error(`${selected.field.name} has no ${field.name}`)
    return { kind: 'value', key, value: idOf(field.name, column) }
  })
}

function planKeyMembers(
  planned: GroupPlan,
  member: KeyMember,
  path: readonly string[],
  selected: SelectedField,
): readonly GroupMember[] {
  return membersOf(planned, selected, (inner) => {
    const there = [...path, inner.field.name]
    return inner.nodes.some(({ selectionSet }) => selectionSet !== undefined)
      ? { kind: 'object', key: inner.key, members: planKeyMembers(planned, member, there, inner) }
      : { kind: 'value', key: inner.key, value: demandKey(planned, member, there) }
  })
}

/** The members of connections. */
export const connectionMembers = (planner: Planner, entity: EntityFacts) => ({
  groups: (selected: SelectedField) => planGroups(planner, entity, selected),
})

export const keysRead = (member: ConnectionMember): readonly OrderKey[] =>
  member.kind === 'groups' ? member.groups.values.flatMap((value) => (value.kind === 'key' ? [value.of] : [])) : []
