import type { Graphql, GraphqlResult } from '../graphql.ts'
import type { Fields } from '../json.ts'
import { requestOf, type FieldFacts, type TypeFacts } from './document.ts'

/**
 * What generated clients (`catalograph codegen`) are made of. Nothing here is meant to be called by hand.
 */

export type { FieldFacts, TypeFacts } from './document.ts'
export type * from './types.ts'
export type { GraphqlResult } from '../graphql.ts'

/** What sends the requests of a generated client: a client of `@catalograph/client`. */
export interface Asker {
  readonly graphql: Graphql
}

type Operation = 'query' | 'mutation'
type Send = (given?: Fields) => Promise<GraphqlResult<unknown>>

/** Asks for a field of Query. Rejects with TypeError for what no declaration lets pass, and for nothing else. */
export const query = (client: Asker, name: string, facts: FieldFacts): Send => sender(client, 'query', name, facts)

export const mutate = (client: Asker, name: string, facts: FieldFacts): Send => sender(client, 'mutation', name, facts)

/** Asks for the rows of a collection alone. */
export const list = (client: Asker, name: string, facts: FieldFacts): Send => {
  const page = query(client, name, facts)
  return async (given = {}) => {
    const result = await page({ ...given, select: { rows: given['select'] } })
    return result.error === null ? { ...result, data: (result.data as Fields)['rows'] } : result
  }
}

function sender(client: Asker, operation: Operation, name: string, facts: FieldFacts): Send {
  return async (given = {}) => {
    const { document, variables, read } = requestOf(operation, name, facts, given)
    const result = await client.graphql(document, variables)
    return result.error === null ? { ...result, data: read(result.data[name]) } : result
  }
}

/** What every page of these rows has. */
export const connection = (row: TypeFacts): ReturnType<TypeFacts> => ({
  rows: { of: row, rows: true },
  edges: { of: () => ({ node: { of: row } }) },
  pageInfo: { of: () => ({}) },
})

/** What every insert, update and delete of these rows answers. */
export const written =
  (row: TypeFacts): TypeFacts =>
  () => ({ records: { of: row } })

/** Types of the arguments that every collection takes. */
export const page = { first: 'Int', last: 'Int', before: 'Cursor', after: 'Cursor', offset: 'Int' } as const
