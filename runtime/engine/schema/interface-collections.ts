import {
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
} from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { parts } from '../../contract/name-parts.ts'
import type { InterfaceTypeName } from '../../contract/type-names.ts'
import { meaningOf } from '../meaning.ts'
import type { RoleVisibility } from '../view.ts'
import { byField } from '../visible.ts'
import { filterType, logicalFields, pageArgs } from './collections.ts'
import { orderByDirection, scalars } from './scalars.ts'
import type { InputField } from './related.ts'
import { field, listOf, nonNull, shown, wrapperFields, type SchemaField, type SchemaTypes } from './types.ts'

/** Collections of the rows of all relations with a common interface (spec/graphql.md 17.9). */

/** The relations whose rows the collection has, by the names of their types; empty if it does not exist. */
export const collectedBy = ({ exposed, names }: RoleVisibility, name: string): readonly EntityFacts[] =>
  names.ownsCollection(name)
    ? exposed
        .filter(({ collections = [] }) => collections.includes(name))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    : []

export const collectedInterfaces = ({ exposed, names, manifest }: RoleVisibility): readonly string[] =>
  manifest.interfaces === true
    ? [...new Set(exposed.flatMap(({ collections = [] }) => collections))].filter(names.ownsCollection).sort()
    : []

export function interfaceCollectionField(name: string, of: readonly EntityFacts[], types: SchemaTypes): SchemaField {
  const [filter, orderBy] = (['filter', 'orderBy'] as const).map((part) => types.interfacePart(name, part))
  return field(
    nonNull(types.interfacePart(name, 'connection') as GraphQLObjectType),
    { kind: 'collections', of },
    `The rows of ${of.map((entity) => entity.name).join(', ')}, page by page.`,
    {
      ...pageArgs(leastPage(of)),
      ...(filter && {
        filter: { type: filter as GraphQLInputType, description: 'Conditions that the rows must meet.' },
      }),
      ...(orderBy && {
        orderBy: {
          type: new GraphQLList(nonNull(orderBy as GraphQLInputObjectType)),
          description: 'What to sort by, the most important first. Rows that tie are sorted by their type and key.',
        },
      }),
      ...Object.assign({}, ...of.map(types.rowArguments)),
    },
  )
}

export const leastPage = (of: readonly EntityFacts[]): number => Math.min(...of.map(({ maxRows }) => maxRows))

type MakeType = (
  visible: RoleVisibility,
  name: string,
  of: readonly EntityFacts[],
  types: SchemaTypes,
) => GraphQLNamedType | undefined

/** Undefined: there is no such type. */
export function makeInterfacePart(
  visible: RoleVisibility,
  name: string,
  part: InterfaceTypeName,
  types: SchemaTypes,
): GraphQLNamedType | undefined {
  const of = collectedBy(visible, name)
  return of.length === 0 ? undefined : makers[part](visible, name, of, types)
}

const makers: Readonly<Record<InterfaceTypeName, MakeType>> = {
  connection: (_, name, of, types) =>
    new GraphQLObjectType({
      name: name + parts.connection,
      description: `A page of rows of ${of.map((entity) => entity.name).join(', ')}.`,
      fields: () =>
        wrapperFields({
          edges: [
            listOf(types.interfacePart(name, 'edge') as GraphQLObjectType),
            'The rows of the page, each with its cursor.',
          ],
          pageInfo: [nonNull(types.pageInfo), 'Where the page stands in the collection.'],
          ...(of.every(({ totalCount }) => totalCount) && {
            totalCount: [nonNull(scalars.Int), 'How many rows match, on all pages together.'],
          }),
        }),
    }),
  edge: (_, name, __, types) =>
    new GraphQLObjectType({
      name: name + parts.edge,
      description: `A row with the interface ${name} and its place in the collection.`,
      fields: () =>
        wrapperFields({
          cursor: [nonNull(scalars.String), 'The place of the row in the collection.'],
          node: [nonNull(types.interface(name)), 'The row.'],
        }),
    }),
  filter: (visible, name, of, types) => {
    const fields = sharedFields(name, types, visible.filterable, of).flatMap(([column, all]): InputField[] => {
      const [type, ...others] = all.map((one) => filterType(visible, column, shown(one).type, types))
      return type !== undefined && others.every((other) => String(other) === String(type))
        ? [[column, { type, description: `Conditions on ${column}.` }]]
        : []
    })
    // A name that is a column's in one of the relations means that column there.
    const taken = new Set(of.flatMap((entity) => [...byField(visible.filterable(entity)).keys()]))
    return fields.length === 0
      ? undefined
      : inputType(
          name,
          'filter',
          `Conditions on rows with the interface ${name}; all that are given must hold.`,
          (self) => [...fields, ...logicalFields(self).filter(([operator]) => !taken.has(operator))],
        )
  },
  orderBy: (visible, name, of, types) => {
    const fields = sharedFields(name, types, visible.orderable, of).flatMap(([column, all]): InputField[] => {
      const [first, ...others] = all.map(({ sorting }) => sorting)
      return first !== undefined && others.every((other) => other === first)
        ? [[column, { type: orderByDirection, description: `Sort by ${column} in this direction.` }]]
        : []
    })
    const description = `What rows with the interface ${name} can be sorted by.`
    return fields.length === 0
      ? undefined
      : inputType(
          name,
          'orderBy',
          description,
          () => fields,
          of.every((entity) => types.alternatives(entity).isOneOf),
        )
  },
}

function inputType(
  name: string,
  part: InterfaceTypeName,
  description: string,
  fields: (self: GraphQLInputObjectType) => readonly InputField[],
  isOneOf = false,
): GraphQLInputObjectType {
  const self: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: name + parts[part],
    description,
    ...(isOneOf && { isOneOf }),
    fields: () => Object.fromEntries(fields(self)),
  })
  return self
}

/** Fields of the interface that are columns of all of the relations, as `columnsOf` gives them. */
const sharedFields = (
  name: string,
  types: SchemaTypes,
  columnsOf: RoleVisibility['filterable'],
  of: readonly EntityFacts[],
): readonly (readonly [field: string, columns: readonly ColumnFacts[]])[] => {
  const byRelation = of.map((entity) => byField(columnsOf(entity)))
  return Object.values(types.interface(name).getFields())
    .filter(isColumn)
    .flatMap((shared) => {
      const all = byRelation.flatMap((columns) => columns.get(shared.name) ?? [])
      return all.length === of.length ? [[shared.name, all] as const] : []
    })
}

const isColumn = (shown: GraphQLField<unknown, unknown>): boolean => meaningOf(shown).kind === 'column'
