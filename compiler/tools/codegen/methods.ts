import { getNamedType, isObjectType, type GraphQLObjectType } from 'graphql'
import { rootField, type RootField } from '../../../runtime/contract/root-fields.ts'
import type { Layout, ClientTable } from './layout.ts'
import type { ClientField } from './type-text.ts'

/** A method of a generated client: one root field, asked for with arguments and a selection. */
export interface ClientMethod {
  readonly name: string
  readonly help: string
  readonly operation: 'query' | 'mutation'
  /** True: the rows of the page are answered, without the page. */
  readonly rows: boolean
  readonly field: ClientField
}

/** The methods of every table: TABLE. */
const kinds: readonly (Pick<ClientMethod, 'name' | 'help' | 'rows'> & { readonly root: RootField })[] = [
  { name: 'list', root: 'collection', rows: true, help: 'The rows of a page.' },
  { name: 'page', root: 'collection', rows: false, help: 'A page: its rows or edges, its place, totals.' },
  { name: 'get', root: 'byKey', rows: false, help: 'The row with this key; null when there is none that you may see.' },
  { name: 'insert', root: 'insert', rows: false, help: 'Adds rows.' },
  {
    name: 'update',
    root: 'update',
    rows: false,
    help: 'Changes rows; nothing is done when more than atMost (1) are meant.',
  },
  {
    name: 'delete',
    root: 'delete',
    rows: false,
    help: 'Removes rows; nothing is done when more than atMost (1) are meant.',
  },
]

const operationOf = (root: RootField): ClientMethod['operation'] =>
  root === 'collection' || root === 'byKey' ? 'query' : 'mutation'

/** What the role may do with a table. Functions may have such names too, so the type decides. */
export function methodsOf(layout: Layout, { row }: ClientTable): readonly ClientMethod[] {
  return kinds.flatMap(({ root, ...kind }) => {
    const operation = operationOf(root)
    const field = rootFields(layout, operation)[rootField(root, row.name)]
    const answered = field && getNamedType(field.type).name
    const isOwn = answered === row.name || (answered !== undefined && layout.rowOf(answered)?.row === row)
    return field !== undefined && isOwn && isAskable(field) ? [{ ...kind, operation, field }] : []
  })
}

/** What is selected of an object stands beside its arguments, as `select`: an argument of that name is for documents. */
export const isAskable = ({ type, args }: ClientField): boolean =>
  !isObjectType(getNamedType(type)) || args.every(({ name }) => name !== 'select')

/** Tables that the role may do something with, by the path of their module. */
export const askedTables = (layout: Layout): readonly { readonly path: string; readonly table: ClientTable }[] =>
  layout.modules.flatMap(({ path, table }) =>
    table === null || methodsOf(layout, table).length === 0 ? [] : [{ path, table }],
  )

/** Root fields that are no table's: the functions. `node` is left out, since what it answers may be of any type. */
export function functionsOf(layout: Layout): readonly ClientMethod[] {
  const tables = layout.modules.flatMap(({ table }) => (table === null ? [] : methodsOf(layout, table)))
  const taken = new Set(tables.map(({ field }) => field))
  return (['query', 'mutation'] as const).flatMap((operation) =>
    Object.values(rootFields(layout, operation))
      .filter((field) => !taken.has(field) && field.name !== 'node' && isAskable(field))
      .map((field) => ({ name: field.name, help: field.description ?? '', operation, rows: false, field })),
  )
}

function rootFields({ schema }: Layout, operation: ClientMethod['operation']): Readonly<Record<string, ClientField>> {
  const type: GraphQLObjectType | null | undefined =
    operation === 'query' ? schema.getQueryType() : schema.getMutationType()
  return type?.getFields() ?? {}
}
