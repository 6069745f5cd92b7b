import { describe, expect, it } from 'vitest'
import { dataOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService } from '../support/service.ts'

/** A statement that is kept ready answers only the requests whose variables it was written for. */

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table thing (id int primary key, name text);
  create table blank (id int generated always as identity primary key, note text default 'none');
  insert into thing values (1, 'a'), (2, null), (3, 'c');
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql })

const token = (elements: readonly unknown[]): string => Buffer.from(JSON.stringify(elements)).toString('base64')

describe('variables of different meaning in one document', () => {
  const ids = async (
    query: string,
    variables: Readonly<Record<string, unknown>>,
    operationName?: string,
  ): Promise<readonly number[]> =>
    dataOf(
      await service.graphql(query, { variables, ...(operationName !== undefined && { operationName }) }),
    ).thingCollection.edges.map(({ node }: { node: { id: number } }) => node.id)

  it('are a cursor that holds nothing but a null, and no cursor', async () => {
    const query =
      'query($at: Cursor) { thingCollection(after: $at, orderBy: {name: AscNullsLast}) { edges { node { id } } } }'
    expect(await ids(query, { at: token([null]) })).toEqual([])
    expect(await ids(query, { at: null })).toEqual([1, 3, 2])
    expect(await ids(query, { at: token([null]) })).toEqual([])
    expect(await ids(query, {})).toEqual([1, 3, 2])
    expect(await ids(query, { at: token([]) })).toEqual([])
  })

  it('are a value here and a cursor in another operation', async () => {
    const query = `query Pages($v: Cursor) { thingCollection(after: $v) { edges { cursor } } }
      query Some($v: IntFilter) { thingCollection(filter: {id: $v}) { edges { node { id } } } }`
    expect(await ids(query, { v: { eq: 1 } }, 'Some')).toEqual([1])
    expect(await ids(query, { v: { gt: 1 } }, 'Some')).toEqual([2, 3])
    expect(await ids(query, { v: { is: 'NULL' } }, 'Some')).toEqual([])
    expect(await ids(query, { v: null }, 'Some')).toEqual([1, 2, 3])
  })

  it('are a value here and a node id in another operation', async () => {
    const query = `query One($v: ID!) { node(nodeId: $v) { nodeId } }
      query Some($v: [ThingOrderBy!]) { thingCollection(orderBy: $v) { edges { node { id } } } }`
    expect(await ids(query, { v: [{ id: 'AscNullsLast' }] }, 'Some')).toEqual([1, 2, 3])
    expect(await ids(query, { v: [{ id: 'DescNullsLast' }] }, 'Some')).toEqual([3, 2, 1])
  })

  it('an order that is the default of its variable, and one that is given', async () => {
    const query = `query($by: [ThingOrderBy!] = {name: DescNullsLast, id: AscNullsLast}) {
      thingCollection(orderBy: $by) { edges { node { id } } } }`
    expect(await ids(query, {})).toEqual([3, 1, 2])
    expect(await ids(query, { by: { id: 'AscNullsLast', name: 'DescNullsLast' } })).toEqual([1, 2, 3])
    expect(await ids(query, { by: { name: 'DescNullsLast', id: 'AscNullsLast' } })).toEqual([3, 1, 2])
    expect(await ids(query, { by: null })).toEqual([1, 2, 3])
    expect(await ids(query, {})).toEqual([3, 1, 2])
  })

  it('are rows to insert that name no column, and their number', async () => {
    const query =
      'mutation($rows: [BlankInsertInput!]!) { insertIntoBlankCollection(objects: $rows) { affectedCount } }'
    const inserted = async (count: number): Promise<number> =>
      dataOf(await service.graphql(query, { variables: { rows: Array.from({ length: count }, () => ({})) } }))
        .insertIntoBlankCollection.affectedCount
    expect(await inserted(1)).toBe(1)
    expect(await inserted(3)).toBe(3)
    expect(await inserted(2)).toBe(2)
  })
})
