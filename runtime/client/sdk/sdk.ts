import type { Graphql, GraphqlResult } from '../graphql.ts'
import type { Fields } from '../json.ts'
import type { Live, LiveListener, LiveOptions, LiveStream } from '../live/live.ts'
import { requestOf, type FieldFacts, type TypeFacts } from './document.ts'
import type { Reader } from './readers.ts'

/** The base of generated clients (`catalograph codegen`). It is not meant for direct use. */

export type { FieldFacts, TypeFacts } from './document.ts'
export type * from './sdk-types.ts'
export type * from './live-types.ts'
export type { GraphqlResult } from '../graphql.ts'

/** Sends the requests of a generated client: a client of `@catalograph/client`. */
export interface Asker {
  readonly graphql: Graphql
}

/** Sends the requests of a generated client and watches subscriptions. */
export interface Watcher extends Asker {
  readonly live: Live
}

type Send = (given?: Fields) => Promise<GraphqlResult<unknown>>

/** Requests a field of Query. Rejects only with TypeError, for input that the declarations exclude. */
export const query = (client: Asker, name: string, facts: FieldFacts): Send => sender(client, 'query', name, facts)

export const mutate = (client: Asker, name: string, facts: FieldFacts): Send => sender(client, 'mutation', name, facts)

/** Requests only the rows of a collection. */
export const list = (client: Asker, name: string, facts: FieldFacts): Send => {
  const page = query(client, name, facts)
  return async (given = {}) => rowsOf(await page(askRows(given)))
}

const askRows = (given: Fields): Fields => ({ ...given, select: { rows: given['select'] } })

const rowsOf = (result: GraphqlResult<unknown>): GraphqlResult<unknown> =>
  result.error === null ? { ...result, data: (result.data as Fields)['rows'] } : result

type Watch = (given: Fields, listener: LiveListener<unknown>, options?: LiveOptions) => LiveStream

/** Watches a field of Subscription. Throws only TypeError, for input that the declarations exclude. */
export const watch =
  (client: Watcher, name: string, facts: FieldFacts): Watch =>
  (given, listener, options) => {
    const { document, variables, read } = requestOf('subscription', name, facts, given)
    const hear: LiveListener<Fields> = (result) => listener(readData(result, name, read))
    return client.live(document, variables, hear, options)
  }

/** Watches only the rows of a collection. */
export const watchList = (client: Watcher, name: string, facts: FieldFacts): Watch => {
  const page = watch(client, name, facts)
  return (given, listener, options) => page(askRows(given), (result) => listener(rowsOf(result)), options)
}

const readData = (result: GraphqlResult<Fields>, name: string, read: Reader): GraphqlResult<unknown> =>
  result.error === null ? { ...result, data: read(result.data[name]) } : result

function sender(client: Asker, operation: 'query' | 'mutation', name: string, facts: FieldFacts): Send {
  return async (given = {}) => {
    const { document, variables, read } = requestOf(operation, name, facts, given)
    return readData(await client.graphql(document, variables), name, read)
  }
}

/** The common fields of pages of these rows. */
export const connection = (row: TypeFacts, edge: TypeFacts = () => ({ node: { of: row } })): ReturnType<TypeFacts> => ({
  rows: { of: row, rows: true },
  edges: { of: edge },
  pageInfo: { of: () => ({}) },
})

/** The common fields of pages of rows of these types. */
export const eitherConnection = (types: TypeFacts): ReturnType<TypeFacts> => ({
  rows: { of: types, either: true, rows: true },
  edges: { of: () => ({ node: { of: types, either: true } }) },
  pageInfo: { of: () => ({}) },
})

/** The common fields of inserts, updates and deletes of these rows. */
export const written =
  (row: TypeFacts): TypeFacts =>
  () => ({ records: { of: row } })

/** Types of the common arguments of collections. */
export const page = { first: 'Int', last: 'Int', before: 'Cursor', after: 'Cursor', offset: 'Int' } as const
