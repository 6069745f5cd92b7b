import { getNamedType, isObjectType, type GraphQLObjectType, type OperationTypeNode } from 'graphql'
import { rootField, type RootField } from '../../../runtime/contract/name-parts.ts'
import type { Layout, ClientTable } from './layout.ts'
import type { ClientField } from './type-text.ts'

export type ClientOperation = 'query' | 'mutation' | 'subscription'

export interface ClientMethod {
  readonly name: string
  readonly help: string
  readonly operation: ClientOperation
  /** True: the result is the rows of the page, without the page. */
  readonly rows: boolean
  readonly field: ClientField
}

const noRow = 'null when there is none that you may see.'
const atMost = 'nothing is done when more than atMost (1) are meant.'

/** The methods of every table: TABLE. `rows` is absent if the result is the whole answer. */
const kinds: readonly (Pick<ClientMethod, 'name' | 'help' | 'operation'> & { root: RootField; rows?: true })[] = [
  { name: 'list', operation: 'query', root: 'collection', rows: true, help: 'The rows of a page.' },
  { name: 'page', operation: 'query', root: 'collection', help: 'A page: its rows or edges, its place, totals.' },
  { name: 'get', operation: 'query', root: 'byKey', help: `The row with this key; ${noRow}` },
  { name: 'live', operation: 'subscription', root: 'collection', rows: true, help: 'Watches the rows of a page.' },
  { name: 'livePage', operation: 'subscription', root: 'collection', help: 'Watches a page.' },
  { name: 'liveGet', operation: 'subscription', root: 'byKey', help: `Watches the row with this key; ${noRow}` },
  { name: 'insert', operation: 'mutation', root: 'insert', help: 'Adds rows.' },
  { name: 'update', operation: 'mutation', root: 'update', help: `Changes rows; ${atMost}` },
  { name: 'delete', operation: 'mutation', root: 'delete', help: `Removes rows; ${atMost}` },
  {
    name: 'updateRows',
    operation: 'mutation',
    root: 'updateRows',
    help: `Changes rows, each in a way of its own; ${atMost}`,
  },
]

/** The methods of a table for the role. Functions may have such names too, so the type decides. */
export function methodsOf(layout: Layout, { row }: ClientTable): readonly ClientMethod[] {
  const isOwn = ({ type }: ClientField): boolean => {
    const answered = getNamedType(type).name
    return answered === row.name || layout.rowOf(answered)?.row === row
  }
  const usual = kinds.flatMap(({ root, ...kind }): readonly ClientMethod[] => {
    const field = rootFields(layout, kind.operation)[rootField(root, row.name)]
    return field !== undefined && isOwn(field) && isAskable(field) ? [{ rows: false, ...kind, field }] : []
  })
  return [...usual, ...byKey(layout, row).filter(({ field }) => isOwn(field) && isAskable(field))]
}

/** Changes by each key: `updateByPk`, `deleteBySlug`. */
const byKey = (layout: Layout, row: GraphQLObjectType): readonly ClientMethod[] =>
  Object.values(rootFields(layout, 'mutation')).flatMap((field): readonly ClientMethod[] => {
    const verb = verbs.find((one) => field.name.startsWith(`${one}${row.name}By`))
    if (verb === undefined || field.args.length === 0) return []
    const name = `${verb}${field.name.slice(verb.length + row.name.length)}`
    return [{ name, operation: 'mutation', rows: false, help: field.description ?? '', field }]
  })

const verbs = ['update', 'delete'] as const

/** The selection of an object accompanies its arguments, as `select`: use a document for an argument of that name. */
export const isAskable = ({ type, args }: ClientField): boolean =>
  !isObjectType(getNamedType(type)) || args.every(({ name }) => name !== 'select')

export const askedTables = (layout: Layout): readonly { readonly path: string; readonly table: ClientTable }[] =>
  layout.modules.flatMap(({ path, table }) =>
    table === null || methodsOf(layout, table).length === 0 ? [] : [{ path, table }],
  )

export const functionsOf = (layout: Layout): readonly ClientMethod[] =>
  (['query', 'mutation'] as const).flatMap((operation) => functionsAs(layout, operation))

export const liveFunctionsOf = (layout: Layout): readonly ClientMethod[] => functionsAs(layout, 'subscription')

function functionsAs(layout: Layout, operation: ClientOperation): readonly ClientMethod[] {
  const tables = layout.modules.flatMap(({ table }) => (table === null ? [] : methodsOf(layout, table)))
  const taken = new Set(tables.map(({ field }) => field))
  return Object.values(rootFields(layout, operation))
    .filter((field) => !taken.has(field) && field.name !== 'node' && isAskable(field))
    .map((field) => ({ name: field.name, help: field.description ?? '', operation, rows: false, field }))
}

const rootFields = ({ schema }: Layout, operation: ClientOperation): Readonly<Record<string, ClientField>> =>
  schema.getRootType(operation as OperationTypeNode)?.getFields() ?? {}
