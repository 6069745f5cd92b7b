import { beforeEach, describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService, type AskOptions } from '../support/service.ts'

/** One statement answers a query; a document that was seen before is neither read nor planned again. */

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create table account (id int primary key, email varchar(4), owner text);
  comment on table account is '@graphql({"totalCount": {"enabled": true}})';
  create table post (id int primary key, account_id int references account, title text);
  insert into account values (1, 'a', 'anon'), (2, 'b', 'authenticated');
  insert into post values (10, 1, 't');
  create function twice(n int) returns int immutable language sql as 'select n * 2';
  create function prepared() returns text[] stable language sql as $$ select array_agg(name order by name) from pg_prepared_statements where name like 'cg%' $$;
  alter table account enable row level security;
  create policy own on account using (owner = current_user);
  grant usage on schema public to anon, authenticated;
  grant all on all tables in schema public to anon, authenticated;
`

const statementsOf = async (query: string, options: AskOptions = {}) => {
  service.exchanges.length = 0
  dataOf(await service.graphql(query, options))
  expect(service.exchanges).toHaveLength(1)
  return service.exchanges.flatMap(({ statements }) => statements)
}
const namesOf = async (query: string, options?: AskOptions) =>
  (await statementsOf(query, options)).map(({ name }) => name)

const service = forSuite(createTestService, { sql })
beforeEach(() => {
  service.exchanges.length = 0
})

const many = `query($id: Int!, $n: Int) {
  one: accountByPk(id: $id) { email postCollection(first: $n) { edges { cursor node { title account { email } } } pageInfo { hasNextPage } } }
  two: accountCollection(first: 5, orderBy: {email: AscNullsLast}) { totalCount edges { node { id } } }
  three: twice(n: $id)
  four: node(nodeId: "WyJwdWJsaWMiLCAicG9zdCIsIDEwXQ==") { nodeId }
  five: __typename
}`

describe('one statement per query', () => {
  it('whatever the document selects', async () => {
    expect(await statementsOf(many, { variables: { id: 1 } })).toHaveLength(1)
  })
  it('is enough for hundreds of aliases', async () => {
    const aliases = Array.from({ length: 200 }, (_, index) => `a${index}: accountByPk(id: ${index}) { id }`).join(' ')
    expect(await statementsOf(`{ ${aliases} }`)).toHaveLength(1)
  })
  it('and none for what is known without the database, though role and version are still checked', async () => {
    expect(await statementsOf('{ __typename a: __typename __schema { queryType { name } } }')).toEqual([])
    const answer = await service.graphql('{ __typename }', { role: 'nobody_knows' })
    expect(messagesOf(answer)).toEqual(["The token's role cannot be assumed."])
    expect(answer.errors?.[0]?.extensions.code).toBe('ROLE_REFUSED')
  })
  it('and one per field of a mutation, in one exchange', async () => {
    const insert = (id: number) => `a${id}: insertIntoPostCollection(objects: [{id: ${id}}]) { affectedCount }`
    expect(await statementsOf(`mutation { ${insert(100)} ${insert(101)} ${insert(102)} __typename }`)).toHaveLength(3)
  })
  it('is read-only for queries, not for mutations', async () => {
    await service.graphql('{ __typename }')
    await service.graphql('mutation { __typename }')
    expect(service.exchanges.map(({ readOnly }) => readOnly)).toEqual([true, false])
  })
})

describe('prepared names', () => {
  it('are those of the first run when a document comes again, with other values too', async () => {
    const first = await namesOf(many, { variables: { id: 1, n: 3 } })
    expect(await namesOf(many, { variables: { id: 2, n: 3 } })).toEqual(first)
    expect(await namesOf(many, { variables: { id: 1, n: 4 } })).not.toEqual(first)
    expect(service.compiled()).toBe(1)
  })
  it('are shared by documents that mean the same statement', async () => {
    expect(await namesOf('{ twice(n: 1) }')).toEqual(
      await namesOf('query Other($x: Int!) { twice(n: $x) }', { variables: { x: 5 } }),
    )
  })
  it('are not read again by Postgres when they come again', async () => {
    const names = async () => (dataOf(await service.graphql('{ prepared }')).prepared ?? []) as readonly string[]
    await namesOf(many, { variables: { id: 1, n: 3 } })
    const before = await names()
    for (let id = 1; id < 6; id += 1) await namesOf(many, { variables: { id, n: 3 } })
    expect(await names()).toEqual(before)
  })
  it('differ by role, so that no plan made under the policies of one serves another', async () => {
    const query = '{ accountCollection { edges { node { id } } } }'
    const [anon] = await statementsOf(query, { role: 'anon' })
    const [authenticated] = await statementsOf(query, { role: 'authenticated' })
    expect(anon?.text).toBe(authenticated?.text)
    expect(anon?.name).not.toBe(authenticated?.name)
    const ids = async (role: string) =>
      dataOf(await service.graphql(query, { role })).accountCollection.edges.map(
        (edge: { node: { id: number } }) => edge.node.id,
      )
    for (let turn = 0; turn < 8; turn += 1) {
      expect(await ids('anon')).toEqual([1])
      expect(await ids('authenticated')).toEqual([2])
    }
  })
  it('do not depend on claims', async () => {
    const query = '{ accountCollection { edges { node { id } } } }'
    expect(await namesOf(query, { claims: { sub: 'one' } })).toEqual(await namesOf(query, { claims: { sub: 'two' } }))
  })
})

describe('a refusal', () => {
  it('is about the current schema: what was refused before a change is answered after it', async () => {
    const query =
      'mutation($e: String) { c: updateAccountCollection(set: {email: $e}, filter: {id: {eq: 0}}) { affectedCount } }'
    const variables = { e: 'longer' }
    expect(messagesOf(await service.graphql(query, { variables }))).toEqual([
      'Invalid input for String type. Maximum character length 4',
    ])
    await service.db.query('alter table account alter email type varchar(10)')
    expect(dataOf(await service.graphql(query, { variables }))).toEqual({ c: { affectedCount: 0 } })
    expect(messagesOf(await service.graphql('{ accountCollection { edges { node { late } } } }'))).toEqual([
      'Cannot query field "late" on type "Account".',
    ])
    await service.db.query('alter table account add late int')
    expect(dataOf(await service.graphql('{ accountCollection { edges { node { late } } } }'))).toEqual({
      accountCollection: { edges: [{ node: { late: null } }] },
    })
  })
})
