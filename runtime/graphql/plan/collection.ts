import type { GraphQLField, GraphQLObjectType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf, type WrapperMember } from '../../engine/meaning.ts'
import { leastPage } from '../../engine/schema/interface-collections.ts'
import { defaultFilterOf } from '../../engine/visible.ts'
import { badArgument } from '../protocol/failures.ts'
import { amongMeant, meansSome } from './meant.ts'
import { planFilter } from './filter.ts'
import { planStated } from './stated.ts'
import type { Args, Input } from './input.ts'
import { planOrder, planTypedOrder, planPage } from './order.ts'
import { planMembers, type Planner, type SelectedField } from './planner.ts'
import type {
  AggregateMember,
  Collection,
  ConnectionMember,
  EdgeMember,
  Filter,
  FigureName,
  PageInfoMember,
} from './plan-nodes.ts'

/** A connection field: rows, order, page and selections (spec/graphql.md 5 and 6). */
export function planCollection(planner: Planner, entity: EntityFacts, selected: SelectedField): Collection {
  if (entity.key.length === 0) throw badArgument('Found table with no primary key')
  const args = planner.args(selected)
  const order = planOrder(planner, entity, args('orderBy'))
  return {
    entity,
    filter: amongMeant(planner.visible, entity, planChosen(planner, entity, args('filter')), args),
    ...planAdded(planner, args),
    order,
    page: planPage(entity, order, args),
    members: planConnection(planner, entity, selected),
  }
}

/** The given filter, or else that of the relation's comment (spec/graphql.md 17.5). */
function planChosen(planner: Planner, entity: EntityFacts, input: Input): Filter | null {
  if (input.kind !== 'absent') return planFilter(planner, entity, input)
  const conditions = defaultFilterOf(planner.visible, entity)
  return conditions.length === 0 ? null : planStated(planner.visible, conditions)
}

/** The same for rows of several relations that implement a common interface (spec/graphql.md 17.9). */
export function planCollections(
  planner: Planner,
  of: readonly EntityFacts[],
  selected: SelectedField,
): readonly Collection[] {
  const args = planner.args(selected)
  const meant = of.filter((entity) => meansSome(planner.visible, entity, args))
  const orders = meant.map((entity) => planTypedOrder(planner, entity, args('orderBy')))
  const [maxRows, mostElements] = [leastPage(of), Math.max(...orders.map(({ length }) => length))]
  return meant.map((entity, place) => {
    const order = orders[place] ?? []
    return {
      entity,
      filter: amongMeant(planner.visible, entity, planChosen(planner, entity, args('filter')), args),
      order,
      page: planPage({ ...entity, maxRows }, order, args, mostElements),
      members: planConnection(planner, entity, selected),
    }
  })
}

type PlanMembers = Readonly<Partial<Record<WrapperMember, (selected: SelectedField) => ConnectionMember>>>

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    readonly planCollection?: (args: Args) => Partial<Collection>
    readonly connectionMembers?: (planner: Planner, entity: EntityFacts) => PlanMembers
  }
}

const planAdded = ({ visible }: Planner, args: Args): Partial<Collection> =>
  Object.assign({}, ...visible.additions.map(({ planCollection }) => planCollection?.(args)))

const planConnection = (planner: Planner, entity: EntityFacts, connection: SelectedField) =>
  planMembers<ConnectionMember>(planner, connection, {
    edges: (selected) => ({ kind: 'edges', key: selected.key, members: planEdge(planner, entity, selected) }),
    pageInfo: (selected) => ({ kind: 'pageInfo', key: selected.key, members: planPageInfo(planner, selected) }),
    totalCount: ({ key }) => ({ kind: 'totalCount', key }),
    aggregate: (selected) => ({ kind: 'aggregate', key: selected.key, members: planAggregate(planner, selected) }),
    ...Object.assign({}, ...planner.visible.additions.map((one) => one.connectionMembers?.(planner, entity))),
  })

const planEdge = (planner: Planner, entity: EntityFacts, edges: SelectedField) =>
  planMembers<EdgeMember>(
    planner,
    edges,
    {
      cursor: ({ key }) => ({ kind: 'cursor', key }),
      node: (selected) => ({ kind: 'node', key: selected.key, row: planner.row(planner, entity, selected) }),
    },
    (between, selected) => ({ kind: 'between', key: selected.key, row: planner.row(planner, between, selected) }),
  )

const planPageInfo = (planner: Planner, pageInfo: SelectedField) =>
  planMembers<PageInfoMember>(planner, pageInfo, {
    startCursor: ({ key }) => ({ kind: 'startCursor', key }),
    endCursor: ({ key }) => ({ kind: 'endCursor', key }),
    hasNextPage: ({ key }) => ({ kind: 'hasNextPage', key }),
    hasPreviousPage: ({ key }) => ({ kind: 'hasPreviousPage', key }),
  })

function planAggregate(planner: Planner, aggregate: SelectedField): readonly AggregateMember[] {
  const figures = (name: FigureName) => (selected: SelectedField) => planFigures(planner, name, selected)
  return planMembers<AggregateMember>(planner, aggregate, {
    count: ({ key }) => ({ kind: 'count', key }),
    sum: figures('sum'),
    avg: figures('avg'),
    min: figures('min'),
    max: figures('max'),
  })
}

function planFigures(planner: Planner, name: FigureName, selected: SelectedField): AggregateMember {
  const type = planner.objectType(selected)
  const members = planner
    .fieldsOf(type, selected.nodes)
    .map((figure) =>
      figure.kind === 'typename'
        ? figure
        : { kind: 'figure' as const, key: figure.key, column: columnOfField(type, figure.field) },
    )
  return { kind: 'figures', key: selected.key, function: name, members }
}

function columnOfField(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const meaning = meaningOf(field)
  if (meaning.kind !== 'column') throw new Error(`${type.name}.${field.name} is not a column`)
  return meaning.column
}
