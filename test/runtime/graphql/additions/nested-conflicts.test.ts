import { beforeEach, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

/** `onConflict` in inserts with related rows (spec/graphql.md 17.6). */

const schema = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true, "nestedWrites": {"enabled": true},
    "upsert": {"enabled": true}, "search": {"enabled": true}})';
  create table author (id int generated always as identity primary key, name text not null, email text unique);
  create table post (
    id bigint generated always as identity primary key, author_id int not null references author,
    title text not null, slug text unique
  );
  create table comment (
    id serial primary key, post_id bigint not null references post, body text not null, mood text default 'calm',
    code text unique
  );
  create table detail (post_id bigint primary key references post, note text);
  grant all on all tables in schema public to anon;
  grant usage on all sequences in schema public to anon;
`

const rows = `
  truncate author, post, comment, detail restart identity cascade;
  insert into author (name, email) values ('Ann', 'ann@x.io'), ('Bob', 'bob@x.io');
`

const service = forSuite(createTestService, { sql: schema })
beforeEach(async () => void (await service.db.query(rows)))

const ask = (body: string, variables: Record<string, unknown> = {}) => service.graphql(body, { variables })
const answered = async (field: string): Promise<unknown> => dataOf(await ask(`mutation { x: ${field} }`)).x
const countOf = async (table: string): Promise<number> => (await service.db.query(`select from ${table}`)).rows.length

const annByEmail = (name: string, fields: string): string =>
  `author: { insert: { name: "${name}", email: "ann@x.io" }, onConflict: { constraint: author_email_key${fields} } }`

it('an input has "onConflict" beside "insert", in both directions', async () => {
  const api = await introspect(service)
  expect(namesOf(api, 'AuthorParentInput')).toEqual(['insert', 'connect', 'onConflict'])
  expect(namesOf(api, 'CommentChildrenInput')).toEqual(['insert', 'onConflict'])
  expect(namesOf(api, 'DetailChildInput')).toEqual(['insert', 'onConflict'])
})

it('a nested conflict takes rows that exist, and writes those that do not', async () => {
  const answer = await answered(`insertIntoPostCollection(objects: [
    { title: "A", ${annByEmail('Anna', ', updateFields: [name]')}, detail: { insert: { note: "n" } } }
    { title: "B", author: { insert: { name: "New", email: "new@x.io" },
      onConflict: { constraint: author_email_key, updateFields: [name] } } }
  ]) { affectedCount records { title author { id name } detail { note } } }`)
  expect(answer).toEqual({
    affectedCount: 5,
    records: [
      { title: 'A', author: { id: 1, name: 'Anna' }, detail: { note: 'n' } },
      { title: 'B', author: { id: expect.any(Number), name: 'New' }, detail: null },
    ],
  })
  expect(await countOf('author')).toBe(3)
})

it('a nested conflict changes the rows themselves with those that belong to them', async () => {
  const write = (title: string, note: string, mood: string): string => `insertIntoPostCollection(
    onConflict: { constraint: post_slug_key, updateFields: [title] }
    objects: [{ slug: "s", title: "${title}", authorId: 1
      detail: { insert: { note: "${note}" }, onConflict: { constraint: detail_pkey, updateFields: [note] } }
      commentCollection: { insert: [{ code: "7", body: "b", mood: "${mood}" }, { code: "8", body: "c" }]
        onConflict: { constraint: comment_code_key, updateFields: [mood], filter: { mood: { neq: "wild" } } } } }]
  ) { affectedCount records { id title detail { note } commentCollection(orderBy: [{ id: AscNullsLast }]) { edges { node { body mood } } } } }`
  const expected = (affectedCount: number, title: string, note: string, mood: string) => ({
    affectedCount,
    records: [
      {
        id: '1',
        title,
        detail: { note },
        commentCollection: { edges: [{ node: { body: 'b', mood } }, { node: { body: 'c', mood: 'calm' } }] },
      },
    ],
  })
  expect(await answered(write('first', 'n', 'wild'))).toEqual(expected(4, 'first', 'n', 'wild'))
  expect(await answered(write('second', 'm', 'tame'))).toEqual(expected(3, 'second', 'm', 'wild'))
  expect([await countOf('post'), await countOf('comment')]).toEqual([1, 2])
})

it('a nested conflict cannot leave alone what others depend on, and then keeps nothing', async () => {
  const refused =
    await ask(`mutation { x: insertIntoPostCollection(objects: [{ title: "A", ${annByEmail('Anna', '')} }]) {
    affectedCount } }`)
  expect(refused.errors).toEqual([
    {
      message: 'A row that others depend on was not inserted',
      path: ['x'],
      extensions: { code: 'BAD_ARGUMENT', argument: ['objects', 'author', 'insert'] },
    },
  ])
  expect(await countOf('post')).toBe(0)
  const alone = await answered(`insertIntoPostCollection(
    onConflict: { constraint: post_slug_key }
    objects: [{ slug: "s", title: "A", author: { connect: { id: 1 } } }, { slug: "s", title: "B", author: { connect: { id: 2 } } }]
  ) { affectedCount records { title } }`)
  expect(alone).toEqual({ affectedCount: 1, records: [{ title: 'A' }] })
})

it('a place needs one "onConflict", in known documents, too', async () => {
  const [one, other] = [', updateFields: [name]', '']
  const conflict = (text: string) => `Several objects with "${text}" take the same "onConflict", without "filter"`
  const both = (first: string, second: string): string => `mutation { x: insertIntoPostCollection(objects: [
    { title: "A", ${annByEmail('Anna', first)} }, { title: "B", ${annByEmail('Anna', second)} }]) { affectedCount } }`
  expect(messagesOf(await ask(both(one, other)))).toEqual([conflict('author')])
  const filtered = ', updateFields: [name], filter: { id: { eq: 1 } }'
  expect(messagesOf(await ask(both(filtered, filtered)))).toEqual([conflict('author')])
  const document = `mutation($o: [PostInsertInput!]!) { x: insertIntoPostCollection(objects: $o) { affectedCount } }`
  const post = (filter: object | null) => {
    const onConflict = { constraint: 'author_email_key', updateFields: ['name'], filter }
    return { title: 'A', author: { insert: { name: 'Anna', email: 'ann@x.io' }, onConflict } }
  }
  const asked = async (...o: readonly object[]): Promise<unknown> => {
    const answer = await ask(document, { o })
    return answer.errors === undefined ? dataOf(answer).x.affectedCount : messagesOf(answer)
  }
  expect(await asked(post(null))).toBe(2)
  expect(await asked(post({ id: { eq: 1 } }))).toBe(2)
  expect(await asked(post({ id: { eq: 2 } }))).toEqual(['A row that others depend on was not inserted'])
  expect(await asked(post({ id: null }))).toBe(2)
  const called = (config: string | null) => post({ name: { search: { query: 'annas', config } } })
  await asked(called(null))
  expect(await asked(called('english'))).toBe(2)
  expect(await asked(called('simple'))).toEqual(['A row that others depend on was not inserted'])
  expect(await asked(post({ id: { eq: 1 } }), post({ id: { eq: 1 } }))).toEqual([conflict('author')])
})
