import { beforeEach, describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { fieldsOf, introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const schema = `
  comment on schema public is '@graphql({"introspection": true, "updates": {"enabled": true}})';
  create type mood as enum ('low', 'high');
  create table post (
    id int primary key, slug text not null unique, part int2, author int, title varchar(8), views int4 default 0,
    small int2, big int8, price numeric(6,2), ratio float8, tags text[], moods mood[], grid int[], codes varchar(3)[],
    body jsonb, raw json, bodies jsonb[], secret int, home point, unique (author, part)
  );
  create unique index post_lower on post (lower(title));
  create unique index post_some on post (views) where views > 100;
  create table reply (id int primary key, post int references post on delete cascade, text text);
  create table taken (id int primary key, set int unique, note text);
  create table odd (id int primary key, constructor text, "toString" text);
  insert into odd values (1, 'x', 'y'), (2, 'x', 'y');
  create table plain (id int primary key, n int);
  comment on table plain is '@graphql({"updates": {"enabled": false}})';
  create table keyless (id int, n int);
  comment on table keyless is '@graphql({"primary_key_columns": ["id"]})';
  grant all on post, reply, taken, odd, plain, keyless to anon;
  revoke select, insert, update on post from anon;
  grant select (id, slug, part, author, title, views, small, big, price, ratio, tags, moods, grid, codes, body, raw, bodies, home) on post to anon;
  grant insert, update on post to anon;
`

const rows = `
  truncate post, reply, taken, keyless cascade;
  insert into post (id, slug, part, author, title, views, small, big, price, ratio, tags, moods, grid, codes, body, raw, bodies)
  values
    (1, 'one', 1, 1, 'First', 10, 32767, 9223372036854775800, 10.50, 1.5, '{a,b,a}', '{low,high}', '{1,2}', '{x}',
      '{"a": {"b": 1}, "tags": ["x", "y", "x"]}', '{"z": 1, "a": 2}', '{}'),
    (2, 'two', 2, 1, 'Second', 20, 1, 1, 99.99, null, null, null, '{{1,2},{3,4}}', null, null, null, null),
    (3, 'three', 1, 2, 'Third', null, 1, 1, 1, 0, '{}', '{}', '{}', '{}', '[1, "1", [1], 1.0]', '[]', '{1,2}');
  insert into reply values (1, 1, 'r');
  insert into taken values (1, 1, 'n');
  insert into keyless values (1, 1), (1, 2), (2, 3);
`

describe('updates', () => {
  const service = forSuite(createTestService, { sql: schema })
  beforeEach(async () => void (await service.db.query(rows)))

  const ask = (body: string, variables: Record<string, unknown> = {}) => service.graphql(body, { variables })
  const answered = async (field: string): Promise<unknown> => dataOf(await ask(`mutation { x: ${field} }`)).x
  const refused = async (field: string) => messagesOf(await ask(`mutation { x: ${field} }`))
  const rowsOf = async (text: string): Promise<readonly unknown[]> => (await service.db.query(text)).rows
  const stored = async (column: string, id = 1): Promise<unknown> =>
    ((await rowsOf(`select ${column} as v from post where id = ${id}`)) as readonly { readonly v: unknown }[])[0]?.v

  it('has a field for each key, and none where it is off', async () => {
    const api = await introspect(service)
    const names = namesOf(api, 'Mutation')
    expect(names.filter((name) => name.includes('post'))).toEqual([
      'deleteFrompostCollection',
      'deletepostByAuthorAndPart',
      'deletepostByPk',
      'deletepostBySlug',
      'insertIntopostCollection',
      'updatepostByAuthorAndPart',
      'updatepostByPk',
      'updatepostBySlug',
      'updatepostCollection',
      'updatepostRows',
    ])
    expect(names.filter((name) => name.includes('taken'))).toEqual([
      'deleteFromtakenCollection',
      'deletetakenByPk',
      'deletetakenBySet',
      'insertIntotakenCollection',
      'updatetakenByPk',
      'updatetakenCollection',
      'updatetakenRows',
    ])
    expect(names.filter((name) => name.includes('plain'))).toEqual([
      'deleteFromplainCollection',
      'insertIntoplainCollection',
      'updateplainCollection',
    ])
    expect(signatureOf(api, 'Mutation', 'updatereplyByPk')).toBe(
      'updatereplyByPk(id: Int!, set: replyUpdateInput, increment: replyIncrementInput, multiply: replyMultiplyInput): reply',
    )
    expect(signatureOf(api, 'Mutation', 'deletepostByAuthorAndPart')).toBe(
      'deletepostByAuthorAndPart(author: Int!, part: Int!): post',
    )
    expect(signatureOf(api, 'Mutation', 'updatepostRows')).toBe(
      'updatepostRows(rows: [postRowInput!]!, atMost: Int!): postUpdateResponse!',
    )
    expect(fieldsOf(api, 'postRowInput')).toEqual(['id: Int!', 'set: postUpdateInput!'])
  })

  it('gives operators the columns that they take, and the role may read and write', async () => {
    const api = await introspect(service)
    const numbers = ['id', 'part', 'author', 'views', 'small', 'big', 'price', 'ratio']
    expect(namesOf(api, 'postIncrementInput')).toEqual(numbers)
    expect(fieldsOf(api, 'postMultiplyInput').slice(-3)).toEqual(['big: BigInt', 'price: BigFloat', 'ratio: Float'])
    expect(fieldsOf(api, 'postAppendInput')).toEqual([
      'tags: [String]',
      'moods: [mood]',
      'grid: [Int]',
      'codes: [String]',
      'body: JSON',
      'raw: JSON',
      'bodies: [JSON]',
    ])
    expect(namesOf(api, 'postRemoveInput')).toEqual(['tags', 'moods', 'grid', 'codes', 'body', 'raw'])
    expect(fieldsOf(api, 'postSetKeyInput')).toEqual(['body: [JSONSetKey!]', 'raw: [JSONSetKey!]'])
    expect(namesOf(api, 'postUpdateInput')).toContain('secret')
    expect(signatureOf(api, 'Mutation', 'updateplainCollection')).toContain('set: plainUpdateInput!')
  })

  it('refuses several rows of one key, and changes nothing then', async () => {
    expect(await refused('updatekeylessByPk(id: 1, set: {n: 9}) { n }')).toEqual(['update impacts too many records'])
    expect(await refused('deletekeylessByPk(id: 1) { n }')).toEqual(['delete impacts too many records'])
    expect(await answered('deletekeylessByPk(id: 2) { n }')).toEqual({ n: 3 })
    expect(await rowsOf('select n from keyless order by n')).toEqual([{ n: 1 }, { n: 2 }])
  })

  it.each([
    ['increment: {views: 5}', 'views', 15],
    ['increment: {views: null, part: 9}', 'views', 10],
    ['multiply: {views: -2}', 'views', -20],
    ['increment: {price: "0.005"}', 'price', '10.51'],
    ['multiply: {price: "1.155"}', 'price', '12.13'],
    ['multiply: {ratio: 0.5}', 'ratio', 0.75],
    ['increment: {big: "7"}', 'big', '9223372036854775807'],
    ['append: {tags: ["c", null]}', 'tags', ['a', 'b', 'a', 'c', null]],
    ['prepend: {tags: "c"}', 'tags', ['c', 'a', 'b', 'a']],
    ['append: {tags: []}', 'tags', ['a', 'b', 'a']],
    ['remove: {tags: ["a"]}', 'tags', ['b']],
    ['remove: {tags: []}', 'tags', ['a', 'b', 'a']],
    ['append: {moods: [low]}', 'moods::text', '{low,high,low}'],
    ['remove: {moods: low}', 'moods::text', '{high}'],
    ['append: {codes: ["y"]}', 'codes', ['x', 'y']],
    [String.raw`append: {bodies: ["{\"a\":1}"]}`, 'bodies::text', String.raw`{"{\"a\": 1}"}`],
    [String.raw`append: {body: "{\"a\": 2}"}`, 'body', { a: 2, tags: ['x', 'y', 'x'] }],
    [String.raw`prepend: {body: "{\"a\": 2, \"c\": 3}"}`, 'body', { a: { b: 1 }, c: 3, tags: ['x', 'y', 'x'] }],
    [String.raw`append: {raw: "{\"b\": 3}"}`, 'raw::text', '{"a": 2, "b": 3, "z": 1}'],
    ['setKey: {body: {at: ["a", "b"], value: "[2]"}}', 'body', { a: { b: [2] }, tags: ['x', 'y', 'x'] }],
    ['setKey: {body: [{at: "n", value: "1"}, {at: ["n"], value: "2"}, {at: ["m", "n"], value: "3"}]}', "body->'n'", 2],
    ['setKey: {body: []}, set: {title: "x"}', 'title', 'x'],
    ['unsetKey: {body: [{at: ["a", "b"]}, {at: ["tags", "-1"]}]}', 'body', { a: {}, tags: ['x', 'y'] }],
    ['increment: {views: 1}, append: {tags: ["z"]}, set: {title: "T"}', 'views || title || tags[4]', '11Tz'],
  ])('applies %s', async (change, column, value) => {
    await answered(`updatepostByPk(id: 1, ${change}) { id }`)
    expect(await stored(column)).toEqual(value)
  })

  it('answers what does not fit with the code of the database, and keeps nothing', async () => {
    const failure = async (change: string, id = 1) => {
      const answer = await ask(
        `mutation { a: deletereplyByPk(id: 1) { id } b: updatepostByPk(id: ${id}, ${change}) { id } }`,
      )
      const [error] = answer.errors ?? []
      return [error?.path, error?.extensions.code, error?.extensions.sqlstate]
    }
    expect(await failure('increment: {small: 1}')).toEqual([['b'], 'DATABASE_REFUSED', '22003'])
    expect(await failure('increment: {big: "8"}')).toEqual([['b'], 'DATABASE_REFUSED', '22003'])
    expect(await failure('multiply: {price: "1000"}')).toEqual([['b'], 'DATABASE_REFUSED', '22003'])
    expect(await failure('remove: {grid: [1]}', 2)).toEqual([['b'], 'DATABASE_REFUSED', '0A000'])
    expect(await failure('append: {codes: ["long"]}')).toEqual([['b'], 'DATABASE_REFUSED', '22001'])
    expect(await failure('append: {body: "{"}')).toEqual([['b'], 'DATABASE_REFUSED', '22P02'])
    expect(await rowsOf('select count(*)::int as n from reply')).toEqual([{ n: 1 }])
  })

  it('takes names that every object has for fields only where they are given', async () => {
    const rows = '{id: 1, set: {constructor: "a"}}, {id: 2, set: {toString: "b"}}'
    const field = `updateoddRows(rows: [${rows}], atMost: 2) { records { id constructor toString } }`
    expect(await answered(field)).toEqual({
      records: [
        { id: 1, constructor: 'a', toString: 'y' },
        { id: 2, constructor: 'x', toString: 'b' },
      ],
    })
  })

  it('loses no increment of requests at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => answered('updatepostByPk(id: 1, increment: {views: 1}) { id }')))
    expect(await stored('views')).toBe(30)
  })
})
