import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../runtime/lib/steps.ts'
import type { Explained } from '../../../../compiler/additions/explain/statements.ts'
import { questions, usefulRoles } from '../../../reference/questions/document.ts'
import { worlds } from '../../../reference/exact/worlds/world.ts'
import { catalog, schema } from '../../../support/catalog-literal.ts'
import { openStage } from '../../../reference/exact/stage.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService, type Answer } from '../../../support/service.ts'
import { sized } from '../../../support/whole.ts'
import { annotate, buildModel } from '../../../support/with-additions.ts'

const on = `comment on schema public is '@graphql({"explain": {"enabled": true}, "relationFilters": {"enabled": true},
  "orderByRelated": {"enabled": true}})'`
const sql = `
  ${on};
  create table author (id int primary key, name text);
  create table book (id int primary key, author_id int not null references author, title text);
  create index on book (author_id);
  insert into author values (1, 'Ada'), (2, 'Grace');
  insert into book values (1, 1, 'Notes'), (2, 1, 'More'), (3, 2, 'Bugs');
  grant all on author, book to anon;
`

const service = forSuite(createTestService, { sql })

const explained = ({ extensions }: Answer): readonly Explained[] => (extensions?.['explain'] ?? []) as Explained[]
const ask = (query: string, variables: Record<string, unknown> = {}) =>
  service.graphql(query, { variables, extensions: { explain: true } })

/** Alias and path of every node that has one, in the order of the plan. */
const pathsIn = (plan: unknown): readonly string[] => {
  if (Array.isArray(plan)) return plan.flatMap(pathsIn)
  if (typeof plan !== 'object' || plan === null) return []
  const { 'GraphQL Path': path, 'Relation Name': relation, 'Function Name': called } = plan as Record<string, unknown>
  const inner = Object.values(plan).flatMap(pathsIn)
  return path === undefined ? inner : [`${relation ?? called}: ${(path as string[]).join('.')}`, ...inner]
}

describe('17 explain', () => {
  const document = `query Q($id: Int!, $title: String) {
    one: bookByPk(id: $id) { title author_id }
    authorCollection(filter: { name: { eq: "Ada" } }) {
      edges { node { books: bookCollection(filter: { title: { eq: $title } }) { totalCount: __typename edges { node { id } } } } }
    }
  }`

  it('gives the statement with its places, parameters, variables and plan, and the same data', async () => {
    const variables = { id: 3, title: 'Notes' }
    const plain = await service.graphql(document, { variables })
    const answer = await ask(document, variables)
    expect(answer.data).toEqual(plain.data)
    expect(plain.extensions).toBeUndefined()
    const [statement, ...others] = explained(answer)
    expect(others).toEqual([])
    expect(statement).toMatchObject({ paths: [['one'], ['authorCollection']], variables: ['$id', null, '$title'] })
    expect(statement?.parameters).toEqual(['3', 'Ada', 'Notes'])
    expect(statement?.statement).toBe(service.exchanges.at(-1)?.statements[1]?.text)
    expect(new Set(pathsIn(statement?.plan))).toEqual(
      new Set(['book: one', 'author: authorCollection', 'book: authorCollection.edges.node.books']),
    )
  })
  it('says for which rows filters and orders read related ones', async () => {
    const document = `query Q($title: String) {
      authorCollection(filter: { bookCollection: { some: { title: { eq: $title } } } }, orderBy: [{ bookCollection: { count: DescNullsLast } }]) {
        edges { node { books: bookCollection(orderBy: [{ author: { name: AscNullsLast } }]) { edges { node { id } } } } }
      }
    }`
    const [statement] = explained(await ask(document, { title: 'Notes' }))
    const paths = pathsIn(statement?.plan)
    const places = (path: string) =>
      paths.filter((text) => text.endsWith(`: ${path}`)).map((text) => text.split(':')[0])
    expect(new Set(places('authorCollection'))).toEqual(new Set(['author', 'book']))
    expect(new Set(places('authorCollection.edges.node.books'))).toEqual(new Set(['author', 'book']))
    const scans = JSON.stringify(statement?.plan).match(/"Relation Name"/g)
    expect(paths).toHaveLength(scans?.length ?? 0)
  })

  it('says for which place the parts of views, policies and functions are read', async () => {
    await service.db.query(`
      comment on schema public is '@graphql({"explain": {"enabled": true}, "composites": {"enabled": true}})';
      create type place as (name text, books int);
      create table reader (book_id int references book, name text);
      create view shelf as select b.id, b.title, b.author_id, a.name from book b join author a on a.id = b.author_id;
      comment on view shelf is '@graphql({"primary_key_columns": ["id"], "totalCount": {"enabled": true}, "foreign_keys":
        [{"local_columns": ["author_id"], "foreign_schema": "public", "foreign_table": "author", "foreign_columns": ["id"]}]})';
      create table page (id int primary key, book_id int references book);
      alter table page enable row level security;
      create policy read on page using (exists (select from reader r where r.book_id = page.book_id));
      grant select on shelf, reader, page to anon;
      create function books(author) returns setof book language sql stable as
        'select b.* from public.book b where b.author_id = $1.id';
      create function place_of(author) returns place language plpgsql stable as
        'begin return row($1.name, 1); end';
      create function late() returns setof book language sql volatile as 'select * from public.book';
    `)
    const answer = await ask(`{
      shelfCollection(last: 1) { totalCount edges { node { id } } }
      authorCollection {
        edges { node {
          shelfCollection { edges { node { title } } }
          books { edges { node { title pageCollection { edges { node { id } } } } } }
          place_of { name }
        } }
      }
    }`)
    expect(answer.errors).toBeUndefined()
    const paths = explained(answer).flatMap(({ plan }) => pathsIn(plan))
    const node = 'authorCollection.edges.node'
    expect(new Set(paths)).toEqual(
      new Set([
        'book: shelfCollection',
        'author: shelfCollection',
        'author: authorCollection',
        `author: ${node}.shelfCollection`,
        `book: ${node}.shelfCollection`,
        `book: ${node}.books`,
        `page: ${node}.books.edges.node.pageCollection`,
        `reader: ${node}.books.edges.node.pageCollection`,
        `place_of: ${node}.place_of`,
      ]),
    )
    const alone = await ask('mutation { late(first: 1) { edges { node { id } } } }')
    expect(explained(alone).flatMap(({ plan }) => pathsIn(plan))).toEqual(['late: late'])
    const byKey = await ask('{ shelfByPk(id: 1) { title } }')
    expect(new Set(explained(byKey).flatMap(({ plan }) => pathsIn(plan)))).toEqual(
      new Set(['book: shelfByPk', 'author: shelfByPk']),
    )
    await service.db.query(`drop table page, reader; drop view shelf; drop function books, place_of, late; ${on}`)
  })

  it('gives each statement of a mutation, explained right before it runs', async () => {
    const answer = await ask(`mutation {
      insertIntobookCollection(objects: [{ id: 9, author_id: 1, title: "New" }]) { records { id } }
      __typename
      updatebookCollection(set: { title: "Newer" }, filter: { id: { eq: 9 } }) { affectedCount }
      deleteFrombookCollection(filter: { id: { eq: 9 } }) { affectedCount }
    }`)
    expect(answer.data.deleteFrombookCollection).toEqual({ affectedCount: 1 })
    const statements = explained(answer)
    expect(statements.map(({ paths }) => paths)).toEqual([
      [['insertIntobookCollection']],
      [['updatebookCollection']],
      [['deleteFrombookCollection']],
    ])
    expect(statements.map(({ plan }) => pathsIn(plan)[0])).toEqual([
      'book: insertIntobookCollection',
      'book: updatebookCollection',
      'book: deleteFrombookCollection',
    ])
    expect((await service.db.query('select from book where id = 9')).rowCount).toBe(0)
  })
  it('runs nothing by explaining, and gives the place of what fails', async () => {
    const failed = await ask(`mutation {
      a: insertIntobookCollection(objects: [{ id: 10, author_id: 1 }]) { affectedCount }
      b: insertIntobookCollection(objects: [{ id: 10, author_id: 1 }]) { affectedCount }
    }`)
    expect(failed).toMatchObject({ data: null, errors: [{ path: ['b'], extensions: { sqlstate: '23505' } }] })
    expect(failed.extensions).toBeUndefined()
  })
  it('answers documents that need no statement, and is deaf to anything but true', async () => {
    expect(await ask('{ __typename }')).toEqual({ data: { __typename: 'Query' }, extensions: { explain: [] } })
    for (const explain of [false, 'true', 1, {}]) {
      expect(await service.graphql('{ __typename }', { extensions: { explain } })).toEqual({
        data: { __typename: 'Query' },
      })
    }
  })
  it('keeps no prepared statement of what it explains', async () => {
    await ask(document, { id: 1 })
    const names = service.exchanges.at(-1)?.statements.map(({ name }) => name !== '')
    expect(names).toEqual([false, true])
  })
  it('works behind an allow-list, and does not explain what it refuses', async () => {
    await service.db.query(`
      create schema private; create table private.documents (hash text primary key, document text not null);
      grant usage on schema private to anon; grant select on private.documents to anon;
      insert into private.documents select encode(sha256(convert_to(d, 'UTF8')), 'hex'), d from (values ('{ bookByPk(id: 1) { id } }')) x(d);
      comment on schema public is '@graphql({"explain": {"enabled": true}, "allowlist": {"table": "private.documents"}})';
    `)
    const answer = await ask('{ bookByPk(id: 1) { id } }')
    expect(explained(answer).map(({ paths }) => paths)).toEqual([[['bookByPk']]])
    expect(await ask('{ bookByPk(id: 2) { id } }')).toMatchObject({
      errors: [{ extensions: { code: 'DOCUMENT_NOT_LISTED' } }],
    })
    await service.db.query(on)
  })
  it('says nothing once it is off', async () => {
    await service.db.query('comment on schema public is null')
    expect(Object.keys(await ask('{ bookByPk(id: 1) { id } }'))).toEqual(['data'])
    await service.db.query(on)
  })
})

describe('17 explain, the setting', () => {
  const read = (comment: string) => {
    const { annotated, diagnostics } = atOnce(
      annotate(catalog({ schemas: [schema('public', `@graphql(${comment})`)] })),
    )
    return { facts: atOnce(buildModel(annotated)).model.manifest, messages: diagnostics.map(({ message }) => message) }
  }
  it('is absent from the manifest unless it is on', () => {
    expect(read('{"explain": {"enabled": true}}').facts.explain).toBe(true)
    for (const off of ['{}', '{"explain": {"enabled": false}}', '{"explain": null}'])
      expect(Object.keys(read(off).facts)).not.toContain('explain')
  })
  it.each([
    ['true', 'true is no object.'],
    ['{"enable": true}', 'it has no member "enable"; did you mean "enabled"?'],
    ['{"enabled": 1}', '"enabled" is neither true nor false.'],
  ])('warns the owner of %s and stays off', (setting, reason) => {
    const { facts, messages } = read(`{"explain": ${setting}}`)
    expect(facts.explain).toBeUndefined()
    expect(messages).toEqual([`The setting "explain" in the comment cannot be used as it stands: ${reason}`])
  })
})

describe('17 explain on random documents', () => {
  const seed = Number(process.env['EXACT_SEED'] ?? '81')
  it(`changes no answer (seed ${seed})`, { timeout: 60_000 }, async () => {
    const drawn = fc.sample(worlds, { seed, numRuns: 8 }).filter((world) => usefulRoles(world).length > 0)
    for (const world of drawn.slice(0, sized(2, 1))) {
      const stage = await openStage({ ...world, explain: true })
      try {
        for (const { question, writes } of fc.sample(questions(world), { seed, numRuns: 40 })) {
          const { document, variables, role, claims, operationName } = question
          const options = { variables, role, claims, ...(operationName !== null && { operationName }) }
          const plain = await stage.service.graphql(document, options)
          if (writes) await stage.reset()
          const { extensions, ...answer } = await stage.service.graphql(document, {
            ...options,
            extensions: { explain: true },
          })
          if (writes) await stage.reset()
          expect(answer, document).toEqual(plain)
          if (plain.errors !== undefined) continue
          const keys = ((extensions?.['explain'] ?? []) as Explained[]).flatMap(({ paths }) => paths.flat())
          const expected = Object.entries(plain.data).filter(([key]) => keys.includes(key))
          expect(expected.map(([key]) => key)).toEqual(keys)
        }
      } finally {
        await stage.close()
      }
    }
  })
})
