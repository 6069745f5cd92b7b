import { getNullableType, GraphQLInterfaceType, GraphQLNonNull, type GraphQLField } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf } from '../meaning.ts'
import type { RoleVisibility } from '../view.ts'
import { field, type Fields, type SchemaTypes } from './types.ts'

/** The interfaces in a relation's comment, besides Node (spec/graphql.md 17.9). */
export const interfacesOf = (
  visible: RoleVisibility,
  { interfaces = [] }: EntityFacts,
  types: SchemaTypes,
): readonly GraphQLInterfaceType[] => interfaces.filter(visible.names.ownsInterface).toSorted().map(types.interface)

/** The relations whose types have an interface. */
export const withInterface = ({ exposed }: RoleVisibility, name: string): readonly EntityFacts[] =>
  exposed.filter(({ interfaces = [] }) => interfaces.includes(name))

/** An interface has the node id, and the columns that all of its types have with equal types. */
export const makeInterface = (visible: RoleVisibility, name: string, types: SchemaTypes): GraphQLInterfaceType => {
  const rows = withInterface(visible, name).map(types.row)
  return new GraphQLInterfaceType({
    name,
    description: `What rows of ${rows.map((row) => row.name).join(', ')} have in common.`,
    fields: () => sharedFields(rows.map((row) => row.getFields())),
  })
}

type Shown = Readonly<Record<string, GraphQLField<unknown, unknown>>>

function sharedFields([first = {}, ...others]: readonly Shown[]): Fields {
  return Object.fromEntries(
    Object.entries(first).flatMap(([name, own]) => {
      const all = [own, ...others.map((fields) => (Object.hasOwn(fields, name) ? fields[name] : undefined))]
      const shared = all.filter((one) => one !== undefined && isValue(one) && isOfType(one, own))
      if (shared.length < all.length) return []
      // Nullable if any of them is.
      const type = all.every((one) => one?.type instanceof GraphQLNonNull) ? own.type : getNullableType(own.type)
      return [[name, field(type, meaningOf(own), `The value of ${name}.`)]]
    }),
  )
}

const isValue = (shown: GraphQLField<unknown, unknown>): boolean =>
  ['column', 'node-id'].includes(meaningOf(shown).kind)

const isOfType = (one: GraphQLField<unknown, unknown>, other: GraphQLField<unknown, unknown>): boolean =>
  String(getNullableType(one.type)) === String(getNullableType(other.type))
