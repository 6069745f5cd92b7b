import type { GraphQLField, GraphQLObjectType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf } from '../../engine/meaning.ts'
import { orderRelations, type Related } from '../../engine/related.ts'
import { byField } from '../../engine/visible/columns.ts'
import { badArgument } from '../protocol/failures.ts'
import { decodeCursor, type ElementForm } from './cursors-and-node-ids.ts'
import { elementForm, planFilter } from './filter.ts'
import { valueOf, type Input } from './input.ts'
import { planMembers, type Planner, type SelectedField } from './planner.ts'
import type {
  AggregateMember,
  Collection,
  ConnectionMember,
  EdgeMember,
  OrderKey,
  OrderTerm,
  Page,
  PageInfoMember,
  Value,
} from './types.ts'

/** A connection field: which rows, in which order, which page, and what of it (spec/graphql.md 5 and 6). */
export function planCollection(planner: Planner, entity: EntityFacts, selected: SelectedField): Collection {
  if (entity.key.length === 0) throw badArgument('Found table with no primary key')
  const args = planner.args(selected)
  const order = planOrder(planner, entity, args('orderBy'))
  return {
    entity,
    filter: planFilter(planner, entity, args('filter')),
    ...planDistinct(args('distinctOn')),
    order,
    page: planPage(entity, order, args),
    members: planConnection(planner, entity, selected),
  }
}

type Args = (name: string) => Input

const isGiven = (input: Input): boolean => input.kind !== 'absent' && input.kind !== 'null'

/** The checks of spec/graphql.md 5.2, in its order. */
function planPage(entity: EntityFacts, order: readonly OrderTerm[], args: Args): Page {
  const first = count('first', args('first'))
  const last = count('last', args('last'))
  const offset = args('offset')
  count('offset', offset)
  const before = cursor(entity, order, args('before'))
  const after = cursor(entity, order, args('after'))
  if (first !== null && last !== null) throw badArgument('only one of "first" and "last" may be provided')
  if (before !== null && after !== null) throw badArgument('only one of "before" and "after" may be provided')
  if (first !== null && before !== null) throw badArgument('"first" may only be used with "after"')
  if (last !== null && after !== null) throw badArgument('"last" may only be used with "before"')
  const backward = last !== null || before !== null
  if (isGiven(offset) && backward) throw badArgument('"offset" may only be used with "first" and "after"')
  const position = before ?? after
  if (position !== null && position.length > order.length) {
    throw badArgument('orderBy clause incompatible with pagination cursor')
  }
  return {
    limit: Math.min(first ?? last ?? entity.maxRows, entity.maxRows),
    backward,
    offset: offset.kind === 'leaf' ? { slot: offset.slot, encoding: { kind: 'offset' } } : null,
    cursor: position,
  }
}

function count(name: string, input: Input): number | null {
  if (input.kind !== 'leaf') return null
  const value = Number(input.value)
  if (value < 0) throw badArgument(`\`${name}\` must be an unsigned integer`)
  return value
}

function cursor(entity: EntityFacts, order: readonly OrderTerm[], input: Input): readonly (Value | null)[] | null {
  if (input.kind !== 'leaf') return null
  const { slot } = input
  return decodeCursor(String(input.value)).map((value, index) => {
    const form = orderedForm(entity, order[index]?.column ?? '')
    return value === null ? null : { slot, encoding: { kind: 'cursor', index, form } }
  })
}

/** How a value of this key stands in a cursor. */
const orderedForm = (entity: EntityFacts, key: OrderKey): ElementForm =>
  typeof key === 'string' ? elementForm(entity, key) : key.kind === 'count' ? 'text' : orderedForm(key.entity, key.of)

/** The values of the enum are SQL names; none of them is as if nothing was asked. */
function planDistinct(input: Input): Pick<Collection, 'distinct'> {
  const columns = new Set(isGiven(input) ? (valueOf(input) as readonly string[]) : [])
  return columns.size === 0 ? {} : { distinct: [...columns] }
}

const directions: Readonly<Record<string, Omit<OrderTerm, 'column'>>> = {
  AscNullsFirst: { descending: false, nullsFirst: true },
  AscNullsLast: { descending: false, nullsFirst: false },
  DescNullsFirst: { descending: true, nullsFirst: true },
  DescNullsLast: { descending: true, nullsFirst: false },
}

/**
 * What the caller asked for, then always the key (spec/graphql.md 5.4): cursors hold the key's values even where it was
 * named before.
 */
function planOrder(planner: Planner, entity: EntityFacts, input: Input): readonly OrderTerm[] {
  const objects = input.kind === 'list' ? input.items : []
  const asked = objects.flatMap((object) => planTerms(planner, entity, object, (key) => key))
  return [...asked, ...entity.key.map((column) => ({ column, descending: false, nullsFirst: false }))]
}

/** @param from makes a key of the collection's rows of one of this relation */
function planTerms(
  planner: Planner,
  entity: EntityFacts,
  input: Input,
  from: (key: OrderKey) => OrderKey,
): readonly OrderTerm[] {
  if (input.kind !== 'object') return []
  const columns = byField(planner.visible.orderable(entity))
  const relations = orderRelations(planner.visible, entity)
  return input.fields.flatMap(([name, value]) => {
    const column = columns.get(name)?.column
    if (column !== undefined) return planTerm(from(column), value)
    const related = relations.get(name)
    return related === undefined ? [] : planRelated(planner, related, value, from)
  })
}

const planTerm = (column: OrderKey, direction: Input): readonly OrderTerm[] => {
  const term = directions[String(valueOf(direction))]
  return term === undefined ? [] : [{ column, ...term }]
}

function planRelated(
  planner: Planner,
  { relation, target }: Related,
  input: Input,
  from: (key: OrderKey) => OrderKey,
): readonly OrderTerm[] {
  if (input.kind !== 'object') return []
  planner.countRelated()
  const step = { entity: target, join: relation }
  if (relation.shape === 'many') {
    return input.fields.flatMap(([, direction]) => planTerm(from({ kind: 'count', ...step }), direction))
  }
  const always = relation.always === true
  return planTerms(planner, target, input, (key) => from({ kind: 'one', ...step, always, of: key }))
}

const planConnection = (planner: Planner, entity: EntityFacts, connection: SelectedField) =>
  planMembers<ConnectionMember>(planner, connection, {
    edges: (selected) => ({ kind: 'edges', key: selected.key, members: planEdge(planner, entity, selected) }),
    pageInfo: (selected) => ({ kind: 'pageInfo', key: selected.key, members: planPageInfo(planner, selected) }),
    totalCount: ({ key }) => ({ kind: 'totalCount', key }),
    aggregate: (selected) => ({ kind: 'aggregate', key: selected.key, members: planAggregate(planner, selected) }),
  })

const planEdge = (planner: Planner, entity: EntityFacts, edges: SelectedField) =>
  planMembers<EdgeMember>(planner, edges, {
    cursor: ({ key }) => ({ kind: 'cursor', key }),
    node: (selected) => ({ kind: 'node', key: selected.key, row: planner.row(planner, entity, selected) }),
  })

const planPageInfo = (planner: Planner, pageInfo: SelectedField) =>
  planMembers<PageInfoMember>(planner, pageInfo, {
    startCursor: ({ key }) => ({ kind: 'startCursor', key }),
    endCursor: ({ key }) => ({ kind: 'endCursor', key }),
    hasNextPage: ({ key }) => ({ kind: 'hasNextPage', key }),
    hasPreviousPage: ({ key }) => ({ kind: 'hasPreviousPage', key }),
  })

function planAggregate(planner: Planner, aggregate: SelectedField): readonly AggregateMember[] {
  const figures = (name: 'sum' | 'avg' | 'min' | 'max') => (selected: SelectedField) =>
    planFigures(planner, name, selected)
  return planMembers<AggregateMember>(planner, aggregate, {
    count: ({ key }) => ({ kind: 'count', key }),
    sum: figures('sum'),
    avg: figures('avg'),
    min: figures('min'),
    max: figures('max'),
  })
}

function planFigures(planner: Planner, name: 'sum' | 'avg' | 'min' | 'max', selected: SelectedField): AggregateMember {
  const type = planner.objectType(selected)
  const members = planner
    .fieldsOf(type, selected.nodes)
    .map((figure) =>
      figure.kind === 'typename'
        ? figure
        : { kind: 'figure' as const, key: figure.key, column: columnOf(type, figure.field) },
    )
  return { kind: 'figures', key: selected.key, function: name, members }
}

function columnOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const meaning = meaningOf(field)
  if (meaning.kind !== 'column') throw new Error(`${type.name}.${field.name} is not a column`)
  return meaning.column
}
