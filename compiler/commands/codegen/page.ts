import { getNamedType, type GraphQLArgument, type GraphQLField } from 'graphql'
import type { Layout, Module } from './layout.ts'

/** A table's additional arguments of collections (spec/graphql.md 5, 17), if it has their types. */
const tableArguments = [
  { name: 'filter', ending: 'Filter', list: false },
  { name: 'orderBy', ending: 'OrderBy', list: true },
  { name: 'distinctOn', ending: 'DistinctField', list: true },
] as const

export interface PageArgument {
  readonly name: string
  /** Name of its type in GraphQL, or of its items'. */
  readonly type: string
  readonly list: boolean
}

export function pageArguments({ table, types }: Module): readonly PageArgument[] {
  const row = table?.row.name ?? ''
  return tableArguments
    .map(({ name, ending, list }) => ({ name, type: row + ending, list }))
    .filter(({ type }) => types.some(({ name }) => name === type))
}

export const graphqlType = ({ type, list }: PageArgument): string => (list ? `[${type}!]` : type)

const commonArguments: Readonly<Record<string, string>> = {
  first: 'Int',
  last: 'Int',
  before: 'Cursor',
  after: 'Cursor',
  offset: 'Int',
}

/** Arguments of a field: the table whose collection it is, and whose page arguments it takes, and further ones. */
export function argumentsOf(
  layout: Layout,
  { type, args }: GraphQLField<unknown, unknown>,
): { readonly page: Module | null; readonly own: readonly GraphQLArgument[] } {
  const part = layout.rowOf(getNamedType(type).name)
  const page = part?.kind === 'connection' ? layout.moduleOf(part.row.name) : undefined
  if (page === undefined) return { page: null, own: args }
  const types = new Map(Object.entries(commonArguments))
  for (const argument of pageArguments(page)) types.set(argument.name, graphqlType(argument))
  return { page, own: args.filter((argument) => types.get(argument.name) !== String(argument.type)) }
}
