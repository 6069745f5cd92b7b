import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

describe('root: {"enabled": false} on a table', () => {
  const service = forSuite(createTestService, {
    sql: `
        comment on schema public is '@graphql({"introspection": true, "schemaReport": {"enabled": true}})';
        create table author (id int primary key, name text);
        create table note (id int primary key, author_id int references author, body text);
        create view short as select id, left(body, 1) as body from note;
        create function latest() returns setof note language sql stable as 'select * from note order by id desc';
        insert into author values (1, 'Ada');
        insert into note values (1, 1, 'one'), (2, 1, 'two');
        grant all on all tables in schema public to anon;`,
  })

  const set = (object: string, settings: object) =>
    service.db.query(`comment on ${object} is '@graphql(${JSON.stringify(settings)})'`)
  const rootFields = async () =>
    namesOf(await introspect(service), 'Query').filter((name) => /^(note|short|author)/.test(name))
  const all = ['authorByPk', 'authorCollection', 'noteByPk', 'noteCollection']
  const off = { enabled: false }

  it('is off until the table says so, and reported where it cannot be read or is another object’s', async () => {
    for (const wrong of [false, 'false', {}, { enabled: 0 }, { enable: false }, [off]]) {
      await set('table note', { root: wrong })
      expect(await rootFields()).toEqual(all)
      const { extensions } = await service.graphql('{ __typename }', { extensions: { schemaReport: true } })
      expect(extensions?.['schemaReport']).toMatchObject({
        remarks: expect.arrayContaining([
          expect.objectContaining({ object: 'table public.note', message: expect.stringContaining('"root"') }),
        ]),
      })
    }
    await set('column note.id', { root: off })
    expect(await rootFields()).toEqual(all)
    await service.db.query('comment on column note.id is null')
  })

  it('takes the collection and the field by key from Query', async () => {
    await set('table note', { root: off })
    expect(await rootFields()).toEqual(['authorByPk', 'authorCollection'])
    const answer = await service.graphql('{ noteCollection { edges { cursor } } noteByPk(id: 1) { id } }')
    expect(messagesOf(answer)).toEqual([
      'Cannot query field "noteCollection" on type "Query". Did you mean "authorCollection"?',
      'Cannot query field "noteByPk" on type "Query".',
    ])
  })

  it('leaves relations, functions, node and mutations as they are', async () => {
    const id = Buffer.from('["public", "note", 1]').toString('base64')
    expect(
      dataOf(
        await service.graphql(`{
          authorByPk(id: 1) { noteCollection(first: 1) { edges { node { body author { name } } } } }
          latest(last: 1) { edges { node { body } } }
          node(nodeId: "${id}") { ... on note { body } }
        }`),
      ),
    ).toEqual({
      authorByPk: { noteCollection: { edges: [{ node: { body: 'one', author: { name: 'Ada' } } }] } },
      latest: { edges: [{ node: { body: 'two' } }] },
      node: { body: 'one' },
    })
    const written = await service.graphql(`mutation {
      insertIntonoteCollection(objects: [{ id: 3 }]) { affectedCount }
      updatenoteCollection(set: { body: "three" }, filter: { id: { eq: 3 } }) { affectedCount }
      deleteFromnoteCollection(filter: { id: { eq: 3 } }) { records { body } }
    }`)
    expect(dataOf(written)).toMatchObject({ deleteFromnoteCollection: { records: [{ body: 'three' }] } })
  })

  it('holds for views that have a key, too, and frees the name for a function', async () => {
    await set('view short', { primary_key_columns: ['id'], root: off })
    expect(await rootFields()).toEqual(['authorByPk', 'authorCollection'])
    await service.db.query(
      `create function "noteCollection"() returns int language sql stable as 'select 7'; comment on view short is null`,
    )
    expect(dataOf(await service.graphql('{ noteCollection }'))).toEqual({ noteCollection: 7 })
  })
})
