import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { fieldsOf, introspect, namesOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'
import { createTestService } from '../../support/service.ts'

/** Types in a schema that a role may not use (spec/graphql.md 1.4): no value of them can be written, not even in a filter. */

const settings = JSON.stringify({
  introspection: true,
  inflect_names: true,
  domains: { enabled: true },
  composites: { enabled: true },
  functionShapes: { enabled: true },
  relationFilters: { enabled: true },
})

const sql = `
  create schema unserved;
  create schema extensions;
  create extension citext schema extensions;
  create type unserved.level as enum ('low', 'high');
  create domain unserved.word as text;
  create domain loose as extensions.citext;
  create domain strict as text;
  create type place as (street text, zip unserved.word);
  create table team (code unserved.word primary key, name text);
  create table note (
    id int primary key, body text, level unserved.level not null default 'low', levels unserved.level[], word unserved.word,
    address extensions.citext, addresses extensions.citext[], loose loose, strict strict, place place,
    team unserved.word references team);
  create function graded(level unserved.level) returns int language sql stable as 'select 1';
  create function said() returns unserved.word language sql stable as 'select ''x''';
  create function shouted(note) returns extensions.citext language sql stable as 'select $1.address';
  create function mine() returns int language sql stable as 'select 1';
  grant all on all tables in schema public to anon, authenticated;
  insert into team values ('a', 'A');
  insert into note values (1, 'one', 'low', '{low}', 'w', 'Ada@x.io', '{b}', 'L', 's', row('main', '1'), 'a');
  grant usage on schema unserved to authenticated;
  comment on schema public is '@graphql(${settings})';
`

describe.each(lawMajors())('types in a schema without USAGE on PostgreSQL %i', (major) => {
  const service = forSuite(createTestService, { major, sql })

  const shapeOf = async (role: string) => {
    const schema = await introspect(service, { role })
    return {
      row: [...namesOf(schema, 'Note')],
      filter: namesOf(schema, 'NoteFilter').filter((name) => !['and', 'or', 'not', 'nodeId'].includes(name)),
      order: namesOf(schema, 'NoteOrderBy'),
      insert: namesOf(schema, 'NoteInsertInput'),
      place: fieldsOf(schema, 'Place'),
      query: namesOf(schema, 'Query'),
    }
  }
  const grantAll = 'grant usage on schema unserved, extensions to anon'

  it('leave out columns, attributes, arguments, results, keys and what is related by them', async () => {
    expect(await shapeOf('anon')).toEqual({
      row: ['nodeId', 'id', 'body', 'strict', 'place'],
      filter: ['id', 'body', 'strict', 'place'],
      order: ['id', 'body', 'strict'],
      insert: ['id', 'body', 'strict'],
      place: ['street: String'],
      query: ['mine', 'node', 'noteByPk', 'noteCollection', 'teamCollection'],
    })
    const { row, query, place } = await shapeOf('authenticated')
    expect(row).toEqual(['nodeId', 'id', 'body', 'level', 'levels', 'word', 'strict', 'place', 'team'])
    expect(place).toEqual(['street: String', 'zip: String'])
    expect(query).toEqual([
      'graded',
      'mine',
      'node',
      'noteByPk',
      'noteCollection',
      'said',
      'teamByPk',
      'teamCollection',
    ])
  })

  it('are whole for a role that may use both, in filters, orders, pages and inputs, and the grant counts at once', async () => {
    await service.db.query(grantAll)
    const { row, query } = await shapeOf('anon')
    expect(row).toEqual([
      'nodeId',
      'id',
      'body',
      'level',
      'levels',
      'word',
      'address',
      'addresses',
      'loose',
      'strict',
      'place',
      'team',
      'shouted',
    ])
    expect(query).toContain('said')
    const page = await service.graphql(
      `{ noteCollection(filter: {level: {eq: "low"}, word: {eq: "w"}, address: {eq: "Ada@x.io"}, loose: {eq: "L"}, place: {zip: {eq: "1"}}}) {
        edges { node { id shouted } } } }`,
    )
    expect(dataOf(page).noteCollection.edges).toEqual([{ node: { id: 1, shouted: 'Ada@x.io' } }])
    await service.db.query('revoke usage on schema unserved, extensions from anon')
    expect((await shapeOf('anon')).row).toEqual(['nodeId', 'id', 'body', 'strict', 'place'])
  })

  it('leave the rest, which answers', async () => {
    const answer = await service.graphql(
      `{ noteCollection(first: 1, orderBy: [{strict: AscNullsLast}], filter: {place: {street: {eq: "main"}}}) {
        pageInfo { endCursor } edges { node { id body place { street } } } } }`,
    )
    expect(answer.errors).toBeUndefined()
    const cursor = answer.data.noteCollection.pageInfo.endCursor
    expect(
      await service.graphql(
        `{ noteCollection(first: 1, after: "${cursor}", orderBy: [{strict: AscNullsLast}]) { edges { cursor } } }`,
      ),
    ).toEqual({ data: { noteCollection: { edges: [] } } })
    expect(
      await service.graphql('mutation { insertIntoNoteCollection(objects: [{id: 2, body: "x"}]) { affectedCount } }'),
    ).toEqual({ data: { insertIntoNoteCollection: { affectedCount: 1 } } })
  })
})
