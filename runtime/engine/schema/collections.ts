import {
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql'
import { formOf } from '../../contract/facts.ts'
import { figures } from '../../contract/aggregates.ts'
import type { ColumnFacts, EntityFacts, ValueType } from '../../contract/manifest.ts'
import { parts, type NamePart } from '../../contract/name-parts.ts'
import type { ScalarName } from '../../contract/scalar-names.ts'
import type { WrapperMember } from '../meaning.ts'
import { filterMembers, orderMembers } from '../input-members.ts'
import { edgeRelations } from '../related.ts'
import { isGeo, type RoleVisibility } from '../view.ts'
import { geoFilter, listFilters, orderByDirection, scalarFilters, scalars } from './scalars.ts'
import type { InputField } from './related.ts'
import { field, listOf, nonNull, shown, typeName, wrapperFields, type MakePart, type SchemaTypes } from './types.ts'

/** Connections, edges, filters, orders and aggregates (spec/graphql.md 4 to 6). */

export function collectionArguments(entity: EntityFacts, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  const filter = types.part(entity, 'filter') as GraphQLInputObjectType | undefined
  const orderBy = types.part(entity, 'orderBy') as GraphQLInputObjectType | undefined
  const defaultOrder = types.defaultOrder(entity)
  const defaultFilter = types.defaultFilter(entity)
  return {
    ...pageArgs(entity.maxRows),
    ...(filter && {
      filter: {
        type: filter,
        ...(defaultFilter && { defaultValue: defaultFilter }),
        description: `Conditions that the rows must meet.${defaultFilter ? '' : ' Default: none.'}`,
      },
    }),
    ...(orderBy && {
      orderBy: {
        type: new GraphQLList(nonNull(orderBy)),
        ...(defaultOrder && { defaultValue: defaultOrder }),
        description: 'What to sort by, the most important first. Rows that tie are sorted by their key.',
      },
    }),
    ...types.collectionArguments(entity),
    ...types.rowArguments(entity),
  }
}

export const pageArgs = (most: number): GraphQLFieldConfigArgumentMap => ({
  first: {
    type: scalars.Int,
    description: `How many rows to take from the start; at most ${most}, which is also the default.`,
  },
  last: { type: scalars.Int, description: `How many rows to take from the end; at most ${most}.` },
  before: { type: scalars.Cursor, description: 'Take rows that come before this cursor; goes with last.' },
  after: { type: scalars.Cursor, description: 'Take rows that come after this cursor; goes with first.' },
  offset: {
    type: scalars.Int,
    description: 'How many rows to leave out at the start; goes with first and after. Default 0.',
  },
})

export const makeConnection: MakePart = (entity, types) =>
  new GraphQLObjectType({
    name: typeName(entity, 'connection'),
    description: `A page of rows of ${entity.name}.`,
    fields: () => {
      const edge = types.part(entity, 'edge') as GraphQLObjectType
      const aggregate = entity.aggregate ? (types.part(entity, 'aggregate') as GraphQLObjectType) : undefined
      const members = wrapperFields({
        edges: [listOf(edge), 'The rows of the page, each with its cursor.'],
        pageInfo: [nonNull(types.pageInfo), 'Where the page stands in the collection.'],
        ...(entity.totalCount && { totalCount: [nonNull(scalars.Int), 'How many rows match, on all pages together.'] }),
        ...(aggregate && { aggregate: [aggregate, 'Figures over all rows that match, on all pages together.'] }),
      })
      return { ...members, ...types.connectionFields(entity) }
    },
  })

export const makeEdge =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    new GraphQLObjectType({
      name: typeName(entity, 'edge'),
      description: `A row of ${entity.name} and its place in the collection.`,
      fields: () => ({
        ...wrapperFields({
          cursor: [nonNull(scalars.String), 'The place of the row in the collection.'],
          node: [nonNull(types.row(entity)), 'The row.'],
        }),
        ...Object.fromEntries(
          [...edgeRelations(visible, entity)].map(([name, between]) => [name, betweenField(between, types)]),
        ),
      }),
    })

const betweenField = (between: EntityFacts, types: SchemaTypes) =>
  field(
    types.row(between),
    { kind: 'between', entity: between },
    `The row of ${between.name} that connects it, where the collection goes through it.`,
  )

const nodeIdFilter: InputField = [
  'nodeId',
  { type: scalarFilters.get('ID') as GraphQLInputType, description: 'Conditions on the node id.' },
]

export const makeFilter =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const self: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: typeName(entity, 'filter'),
      description: `Conditions on rows of ${entity.name}; all that are given must hold.`,
      fields: () => {
        const columns = visible.filterable(entity).map((column): InputField => {
          const { name } = shown(column)
          return [
            name,
            { type: filterType(visible, name, shown(column).type, types), description: `Conditions on ${name}.` },
          ]
        })
        const members = [...filterMembers(visible, entity)].map(([name, { input }]): InputField => [name, input(types)])
        const others: readonly InputField[] = [
          ...(visible.isExposed(entity) ? [nodeIdFilter] : []),
          ...logicalFields(self),
        ]
        // A column with one of these names keeps it (spec/graphql.md 2.4).
        const taken = new Set(columns.map(([name]) => name))
        return Object.fromEntries([...columns, ...members, ...others.filter(([name]) => !taken.has(name))])
      },
    })
    return self
  }

/** The logical operators of a filter (spec/graphql.md 4.2). */
export function logicalFields(self: GraphQLInputObjectType): readonly InputField[] {
  const list = new GraphQLList(nonNull(self))
  return [
    ['and', { type: list, description: 'Holds when every one of these holds.' }],
    ['or', { type: list, description: 'Holds when at least one of these holds.' }],
    ['not', { type: self, description: 'Holds when this does not.' }],
  ]
}

export function filterType(
  visible: RoleVisibility,
  name: string,
  type: ValueType,
  types: SchemaTypes,
): GraphQLInputType {
  const composite = type.kind === 'composite' ? visible.composite(type.id) : undefined
  if (composite !== undefined) return types.compositeFilter(composite)
  const item = type.kind === 'enum' ? visible.enum(type.id) : undefined
  if (item !== undefined && visible.names.ownsEnum(item))
    return type.list ? types.enumListFilter(item) : types.enumFilter(item)
  if (isGeo(type)) return geoFilter
  const form = formOf(type)
  const scalar = type.kind === 'scalar' ? type.name : 'Opaque'
  const usual = type.list ? listFilters : scalarFilters
  const filter = form === undefined ? usual.get(scalar) : types.forms().filter(form, scalar)
  if (filter === undefined) throw new Error(`there is no filter for ${name}`)
  return filter
}

export const makeOrderBy =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const columns = visible.orderable(entity)
    if (columns.length === 0 && orderMembers(visible, entity).size === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'orderBy'),
      ...types.alternatives(entity),
      description: `What rows of ${entity.name} can be sorted by.`,
      fields: () =>
        Object.fromEntries([
          ...columns.map((column): InputField => {
            const { name } = shown(column)
            return [name, { type: orderByDirection, description: `Sort by ${name} in this direction.` }]
          }),
          ...[...orderMembers(visible, entity)].map(([name, { input }]): InputField => [name, input(types)]),
        ]),
    })
  }

export const makeAggregate: MakePart = (entity, types) =>
  new GraphQLObjectType({
    name: typeName(entity, 'aggregate'),
    description: `Figures over rows of ${entity.name}.`,
    fields: () =>
      wrapperFields({
        count: [nonNull(scalars.Int), 'How many rows there are.'],
        ...figureFields(entity, types, figures),
      }),
  })

/** Members with a figure of each column. */
export const figureFields = <Name extends WrapperMember>(
  entity: EntityFacts,
  types: SchemaTypes,
  of: Readonly<Record<Name, { readonly result: NamePart; readonly help: string }>>,
): Parameters<typeof wrapperFields>[0] =>
  Object.fromEntries(
    Object.entries<(typeof of)[Name]>(of).flatMap(([name, { result, help }]) => {
      const type = types.part(entity, result) as GraphQLObjectType | undefined
      return type === undefined ? [] : [[name, [type, help]] as const]
    }),
  )

export const makeFigureResult = (visible: RoleVisibility, name: keyof typeof figures): MakePart =>
  ofColumns(
    parts[name],
    figuresOf(figures[name].help),
    (entity) => entity.columns.filter((one) => one.aggregate[name] !== null && visible.seesColumn(entity, one)),
    ({ aggregate }) => [scalars[aggregate[name] as ScalarName], figures[name].help],
  )

/** @param help description of the figure of a column */
export const figuresOf = (help: string): string => `${help.replace(/[.,].*$/, '')} of each column.`

/** An object with a member for each column; undefined without columns. */
export const ofColumns =
  (
    suffix: string,
    description: string,
    columnsOf: (entity: EntityFacts) => readonly ColumnFacts[],
    valueOf: (column: ColumnFacts, types: SchemaTypes) => readonly [type: GraphQLOutputType, help: string],
  ): MakePart =>
  (entity, types) => {
    const columns = columnsOf(entity)
    if (columns.length === 0) return undefined
    return new GraphQLObjectType({
      name: entity.name + suffix,
      description,
      fields: () =>
        Object.fromEntries(
          columns.map((column) => {
            const [type, help] = valueOf(column, types)
            return [shown(column).name, field(type, { kind: 'column', column: column.column }, help)]
          }),
        ),
    })
  }
