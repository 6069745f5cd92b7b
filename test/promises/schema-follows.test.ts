import { describe, expect, it, test } from 'vitest'
import { dataOf, messagesOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService } from '../support/service.ts'

/** The next request has the effects of a change in the database, without a reload (spec/graphql.md 1.1). */
const sql = `
  create table item (id int primary key, name text);
  create type mood as enum ('sad');
  create materialized view copy as select * from item;
  insert into item values (1, 'one');
  grant usage on schema public to anon;
  grant all on item to anon;
`

const ask = async (query: string) => dataOf(await service.graphql(query))
const refused = async (query: string) => messagesOf(await service.graphql(query))

const service = forSuite(createTestService, { sql, schemas: ['public', 'later'], isolated: true })

describe('the next request', () => {
  const steps: readonly (readonly [string, string, string, unknown])[] = [
    [
      'a new column',
      'alter table item add size int default 3',
      '{ itemByPk(id: 1) { size } }',
      { itemByPk: { size: 3 } },
    ],
    [
      'a renamed column',
      'alter table item rename size to width',
      '{ itemByPk(id: 1) { width } }',
      { itemByPk: { width: 3 } },
    ],
    [
      'another type',
      'alter table item alter width type bigint',
      '{ itemByPk(id: 1) { width } }',
      { itemByPk: { width: '3' } },
    ],
    [
      'a new table with its grant',
      'create table part (id int primary key, item_id int references item); grant all on part to anon',
      '{ itemByPk(id: 1) { partCollection { edges { node { id } } } } }',
      { itemByPk: { partCollection: { edges: [] } } },
    ],
    [
      'a constraint that makes it one-to-one',
      'alter table part add unique (item_id)',
      '{ itemByPk(id: 1) { part { id } } }',
      { itemByPk: { part: null } },
    ],
    [
      'a renamed table',
      'alter table part rename to piece',
      '{ pieceCollection { edges { node { id } } } }',
      { pieceCollection: { edges: [] } },
    ],
    [
      'a view with its key',
      `create view short as select id from item; comment on view short is '@graphql({"primary_key_columns": ["id"]})'; grant select on short to anon`,
      '{ shortByPk(id: 1) { id } }',
      { shortByPk: { id: 1 } },
    ],
    [
      'a new function',
      'create function double(a int) returns int stable language sql as $$ select a * 2 $$',
      '{ double(a: 2) }',
      { double: 4 },
    ],
    [
      'a function that is the first to read a claim by itself',
      `create function who() returns text stable language sql as $$ select current_setting('request.jwt.claim.role', true) $$`,
      '{ who }',
      { who: 'anon' },
    ],
    [
      'a changed function',
      'drop function double; create function double(a text) returns text stable language sql as $$ select a || a $$',
      '{ double(a: "x") }',
      { double: 'xx' },
    ],
    [
      'an enum label',
      `alter type mood add value 'glad'; alter table item add mood mood`,
      'mutation { updateitemCollection(set: {mood: glad}) { records { mood } } }',
      { updateitemCollection: { records: [{ mood: 'glad' }] } },
    ],
    [
      'a comment on a table',
      `comment on table item is '@graphql({"name": "Thing", "totalCount": {"enabled": true}})'`,
      '{ thingCollection { totalCount } }',
      { thingCollection: { totalCount: 1 } },
    ],
    [
      'a comment on the schema',
      `comment on schema public is '@graphql({"inflect_names": true})'; comment on table item is null`,
      '{ itemByPk(id: 1) { __typename } }',
      { itemByPk: { __typename: 'Item' } },
    ],
    [
      'a schema that comes into being',
      'create schema later; create table later.late (id int primary key); grant usage on schema later to anon; grant select on later.late to anon',
      '{ lateCollection { edges { node { id } } } }',
      { lateCollection: { edges: [] } },
    ],
    [
      'several changes of one transaction',
      'begin; create table a (id int primary key); create table b (id int primary key, a_id int references a); grant select on a, b to anon; commit',
      '{ bCollection { edges { node { a { id } } } } }',
      { bCollection: { edges: [] } },
    ],
  ]
  test.each(steps)('answers by %s', async (_, change, query, expected) => {
    await service.graphql('{ __typename }')
    const before = service.compiled()
    await service.db.query(change)
    expect(await ask(query)).toEqual(expected)
    expect(service.compiled()).toBe(before + 1)
    expect(await ask(query)).toEqual(expected)
    expect(service.compiled()).toBe(before + 1)
  })
  const losses: readonly (readonly [string, string, string, string])[] = [
    [
      'a renamed enum label',
      `alter type mood rename value 'glad' to 'merry'`,
      '{ itemCollection(filter: {mood: {eq: glad}}) { edges { node { id } } } }',
      'Value "glad" does not exist in "Mood" enum.',
    ],
    [
      'a dropped column',
      'alter table item drop width',
      '{ itemByPk(id: 1) { width } }',
      'Cannot query field "width" on type "Item".',
    ],
    [
      'a revoked column',
      'revoke select on item from anon; grant select (id) on item to anon',
      '{ itemByPk(id: 1) { name } }',
      'Cannot query field "name" on type "Item".',
    ],
    [
      'a revoked schema',
      'revoke usage on schema later from anon',
      '{ lateCollection { edges { node { id } } } }',
      'Cannot query field "lateCollection" on type "Query".',
    ],
    [
      'a dropped table',
      'drop table b',
      '{ bCollection { edges { node { id } } } }',
      'Cannot query field "bCollection" on type "Query".',
    ],
    [
      'a dropped function',
      'drop function double',
      '{ double(a: "x") }',
      'Cannot query field "double" on type "Query".',
    ],
    [
      'a dropped schema',
      'drop schema later cascade',
      '{ lateByPk(id: 1) { id } }',
      'Cannot query field "lateByPk" on type "Query".',
    ],
  ]
  test.each(losses)('is refused after %s', async (_, change, query, message) => {
    await service.db.query(change)
    expect(await refused(query)).toEqual([
      expect.stringMatching(new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)),
    ])
  })
})

describe('the schema', () => {
  const still: readonly (readonly [string, string])[] = [
    ['a temporary table', 'create temporary table passing (id int primary key); drop table passing'],
    [
      'a temporary view of its own',
      'create temporary table t1 (id int); create temporary view v1 as select * from t1; drop view v1; drop table t1',
    ],
    ['a refreshed materialized view', 'refresh materialized view copy'],
    ['data', `insert into item (id, name) values (50, 'x'); delete from item where id = 50`],
    ['vacuum and analyze', 'analyze item'],
    ['a change that is rolled back', 'begin; alter table item add rolled int; rollback'],
  ]
  test.each(still)('is not read again for %s', async (_, change) => {
    await service.graphql('{ __typename }')
    const before = service.compiled()
    await service.db.query(change)
    expect((await service.graphql('{ itemByPk(id: 1) { id } }')).data).toEqual({ itemByPk: { id: 1 } })
    expect(service.compiled()).toBe(before)
  })
  it('is the old one until a change commits', async () => {
    await service.graphql('{ __typename }')
    await service.db.query('begin')
    await service.db.query('create table pending (id int primary key); grant select on pending to anon')
    expect(await refused('{ pendingCollection { edges { node { id } } } }')).toEqual([
      expect.stringContaining('Cannot query field "pendingCollection" on type "Query".'),
    ])
    await service.db.query('commit')
    expect(await ask('{ pendingCollection { edges { node { id } } } }')).toEqual({ pendingCollection: { edges: [] } })
  })
})

describe('many requests at once', () => {
  it('compile once for one change, and all see it', async () => {
    await service.graphql('{ __typename }')
    const before = service.compiled()
    await service.db.query('create table crowd (id int primary key); grant select on crowd to anon')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => service.graphql('{ crowdCollection { edges { node { id } } } }')),
    )
    for (const answer of answers) expect(answer).toEqual({ data: { crowdCollection: { edges: [] } } })
    expect(service.compiled() - before).toBeLessThanOrEqual(2)
  })
})
