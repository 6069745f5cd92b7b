import { groupFigureNames, type GroupFigure } from '../../contract/figures.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { figureColumns, listedColumns, measuredColumns } from '../../engine/related.ts'
import { byField } from '../../engine/visible/columns.ts'
import { badArgument } from '../protocol/failures.ts'
import { combined, planValue } from './conditions.ts'
import { groupKeyId, notAKey, planKeys } from './group-keys.ts'
import { slotOf, type Input } from './input.ts'
import { planTerm } from './order.ts'
import { planPage } from './page.ts'
import { planMembers, type Planner, type SelectedField } from './planner.ts'
import type { Filter, GroupMember, Groups, GroupValue, OrderTerm, Typename } from './types.ts'
import type { Value } from './values.ts'

/** Groups of a collection's rows (spec/graphql.md 17.2). Values are called as they are in the answer: `sum.price`. */
export function planGroups(planner: Planner, entity: EntityFacts, selected: SelectedField): Groups {
  const args = planner.args(selected)
  const keys = planKeys(planner, entity, args)
  if (keys.size === 0) throw badArgument('At least one field must be provided to by')
  const values = new Map<string, GroupValue>([...keys].map(([id, key]) => [id, { id, ...key }]))
  const planned: Planned = {
    planner,
    entity,
    isKey: (id) => keys.has(id),
    named: (value) => {
      values.set(value.id, value)
      return value.id
    },
  }
  const order = [...planOrder(planned, args('orderBy')), ...[...keys.keys()].map(ascending)]
  const having = planHaving(planned, args('having'))
  const page = planPage(entity, order, args)
  const members = planGroup(planned, selected)
  return { values: [...values.values()], having, order, page, members }
}

/** What the parts of groups are planned with. */
interface Planned {
  readonly planner: Planner
  readonly entity: EntityFacts
  /** Whether rows are grouped by what has this id. */
  readonly isKey: (id: string) => boolean
  /** Has the value found out, once however often it is asked for, and gives its id. */
  readonly named: (value: GroupValue) => string
}

const ascending = (id: string): OrderTerm => ({ column: id, descending: false, nullsFirst: false })

const asFigure = (name: string): GroupFigure | undefined => groupFigureNames.find((figure) => figure === name)

const figureId = ({ named }: Planned, name: GroupFigure, field: string, { column }: ColumnFacts): string =>
  named({ id: `${name}.${field}`, kind: 'figure', function: name, column })

const countId = ({ named }: Planned): string => named({ id: 'count', kind: 'count' })

/** The figures of a function that an input names, with what it says of each. */
function figuresIn<T>(
  { planner, entity }: Planned,
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

function planOrder(planned: Planned, input: Input): readonly OrderTerm[] {
  const objects = input.kind === 'list' ? input.items : []
  return objects.flatMap((object) =>
    object.kind === 'object' ? object.fields.flatMap(([name, value]) => planTerms(planned, name, value)) : [],
  )
}

function planTerms(planned: Planned, name: string, input: Input): readonly OrderTerm[] {
  if (name === 'count') return input.kind === 'leaf' ? planTerm(countId(planned), input) : []
  const figure = asFigure(name)
  if (figure === undefined) return planKeyTerms(planned, [], input)
  return figuresIn<OrderTerm>(planned, figure, input, (field, column, direction) =>
    direction.kind === 'leaf' ? planTerm(figureId(planned, figure, field, column), direction) : [],
  )
}

function planKeyTerms(planned: Planned, path: readonly string[], input: Input): readonly OrderTerm[] {
  if (input.kind === 'object')
    return input.fields.flatMap(([name, value]) => planKeyTerms(planned, [...path, name], value))
  return input.kind === 'leaf' ? planTerm(demandKey(planned, path), input) : []
}

/** @throws Refusal where rows are not grouped by it */
function demandKey({ isKey }: Planned, path: readonly string[]): string {
  const id = groupKeyId(path)
  if (!isKey(id)) throw notAKey(path)
  return id
}

function planHaving(planned: Planned, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  return combined(
    'all',
    input.fields.flatMap(([name, value]) => planCondition(planned, name, value) ?? []),
  )
}

function planCondition(planned: Planned, name: string, input: Input): Filter | null {
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
      return isAsked(input) ? planValue(compared(countId(planned), null), input) : null
    default: {
      const figure = asFigure(name)
      if (figure === undefined) return null
      const conditions = figuresIn<Filter>(planned, figure, input, (field, column, value) => {
        const isOfColumn = figure === 'min' || figure === 'max'
        const condition = isAsked(value)
          ? planValue(compared(figureId(planned, figure, field, column), isOfColumn ? column.maxLength : null), value)
          : null
        return condition === null ? [] : [condition]
      })
      return combined('all', conditions)
    }
  }
}

const isAsked = (input: Input): boolean => input.kind === 'object' && input.fields.length > 0

const compared = (id: string, maxLength: number | null): Parameters<typeof planValue>[0] => ({
  subject: { column: id },
  form: undefined,
  list: false,
  geo: false,
  maxLength,
})

function planGroup(planned: Planned, groups: SelectedField): readonly GroupMember[] {
  const { planner } = planned
  const figures =
    (name: GroupFigure) =>
    (selected: SelectedField): GroupMember => ({
      kind: 'object',
      key: selected.key,
      members: planFigures(planned, name, selected),
    })
  return planMembers<GroupMember>(planner, groups, {
    key: (selected) => ({ kind: 'object', key: selected.key, members: planKeyMembers(planned, [], selected) }),
    count: ({ key }) => ({ kind: 'value', key, value: countId(planned) }),
    cursor: ({ key }) => ({ kind: 'cursor', key }),
    percentile: (selected) => ({ kind: 'object', key: selected.key, members: planPercentiles(planned, selected) }),
    values: (selected) => ({ kind: 'object', key: selected.key, members: planListed(planned, selected) }),
    ...Object.fromEntries(groupFigureNames.map((name) => [name, figures(name)])),
  })
}

const membersOf = (
  { planner }: Planned,
  selected: SelectedField,
  plan: (inner: SelectedField) => GroupMember,
): readonly GroupMember[] =>
  planner
    .fieldsOf(planner.objectType(selected), selected.nodes)
    .map((inner): GroupMember | Typename => (inner.kind === 'typename' ? inner : plan(inner)))

function planFigures(planned: Planned, name: GroupFigure, selected: SelectedField): readonly GroupMember[] {
  const columns = byField(figureColumns(planned.planner.visible, planned.entity, name))
  return membersOf(planned, selected, ({ key, field }) => {
    const column = columns.get(field.name)
    if (column === undefined) throw new Error(`${selected.field.name} has no ${field.name}`)
    return { kind: 'value', key, value: figureId(planned, name, field.name, column) }
  })
}

function planPercentiles(planned: Planned, selected: SelectedField): readonly GroupMember[] {
  const at = { slot: slotOf(planned.planner.args(selected)('at')), encoding: { kind: 'part' } } as const
  return planEach(planned, selected, measuredColumns, (column) => ({ kind: 'percentile', at, column }))
}

function planListed(planned: Planned, selected: SelectedField): readonly GroupMember[] {
  const atMost = { slot: slotOf(planned.planner.args(selected)('atMost')), encoding: { kind: 'most' } } as const
  return planEach(planned, selected, listedColumns, (column) => ({ kind: 'values', atMost, column }))
}

/** Each mention has an argument of its own. */
function planEach(
  planned: Planned,
  selected: SelectedField,
  columnsOf: typeof measuredColumns,
  valueOf: (column: string) => Computed,
): readonly GroupMember[] {
  const columns = byField(columnsOf(planned.planner.visible, planned.entity))
  return membersOf(planned, selected, ({ key, field }) => {
    const column = columns.get(field.name)
    if (column === undefined) throw new Error(`${selected.field.name} has no ${field.name}`)
    const value = valueOf(column.column)
    return { kind: 'value', key, value: planned.named({ id: `${value.kind}.${selected.key}.${field.name}`, ...value }) }
  })
}

type Computed = { readonly column: string } & (
  | { readonly kind: 'percentile'; readonly at: Value }
  | { readonly kind: 'values'; readonly atMost: Value }
)

function planKeyMembers(planned: Planned, path: readonly string[], selected: SelectedField): readonly GroupMember[] {
  return membersOf(planned, selected, (inner) => {
    const there = [...path, inner.field.name]
    return inner.nodes.some(({ selectionSet }) => selectionSet !== undefined)
      ? { kind: 'object', key: inner.key, members: planKeyMembers(planned, there, inner) }
      : { kind: 'value', key: inner.key, value: demandKey(planned, there) }
  })
}
