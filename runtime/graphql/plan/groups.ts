import { recurringTimes, groupFigureNames, type GroupFigure } from '../../contract/aggregates.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { figureColumns, listedColumns, measuredColumns } from '../../engine/related.ts'
import { byField } from '../../engine/visible.ts'
import { badArgument } from '../protocol/failures.ts'
import { combined, planValue } from './conditions.ts'
import { planKeys, type KeyMember } from './group-keys.ts'
import {
  asFigure,
  countId,
  demandKey,
  figureId,
  figuresIn,
  partIn,
  percentileId,
  percentilesIn,
  type GroupPlan,
} from './group-values.ts'
import { slotOf, type Input } from './input.ts'
import { planTerm, planPage } from './order.ts'
import { planMembers, type Planner, type SelectedField } from './planner.ts'
import type { Filter, GroupMember, Groups, GroupValue, OrderTerm, Typename } from './plan-nodes.ts'
import type { Value } from './values.ts'

/** Groups of a collection's rows (spec/graphql.md 17.2). Values have their names in the answer: `sum.price`. */
export function planGroups(planner: Planner, entity: EntityFacts, selected: SelectedField): Groups {
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
  return { values: [...values.values()], having, order, page, members, ...(checked.length > 0 && { checked }) }
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
  switch (name) {
    case 'and':
    case 'or': {
      const items = input.kind === 'list' ? input.items : []
      return combined(
        name === 'and' ? 'all' : 'any',
        items.flatMap((item) => planHaving(planned, item) ?? []),
      )
    }
    case 'not': {
      const of = planHaving(planned, input)
      return of === null ? null : { kind: 'not', of }
    }
    case 'count':
      return combined(
        'all',
        planCompared(() => countId(planned), input),
      )
    case 'percentile':
      return combined(
        'all',
        percentilesIn<Filter>(planned, input, (idOf, value) => planCompared(idOf, value)),
      )
    default: {
      const figure = asFigure(name)
      if (figure === undefined) return null
      const conditions = figuresIn<Filter>(planned, figure, input, (field, column, value) =>
        planCompared(() => figureId(planned, figure, field, column), value),
      )
      return combined('all', conditions)
    }
  }
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
