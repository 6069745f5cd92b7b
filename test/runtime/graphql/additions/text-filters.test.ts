import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { rowsFound } from '../../../support/rows-found.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "textFilters": {"enabled": true}, "search": {"enabled": true}})';
  create schema ext;
  create extension pg_trgm schema ext;
  grant usage on schema ext to anon;
  create table doc (id int primary key, title text, code varchar(4));
  create index on doc (lower(title));
  create index on doc using gin (title ext.gin_trgm_ops);
  comment on table doc is '@graphql({"search": {"enabled": false}})';
  insert into doc values (1, 'Hello World', 'AB'), (2, 'hello world', 'ab'), (3, 'Helo Wurld', 'b'), (4, null, null),
    (5, 'quite another "text"', '\\"');
  insert into doc select n, md5(n::text) from generate_series(100, 20000) n;
  create table both_of (id int primary key, title text);
  create table plain (id int primary key, title text);
  comment on table plain is '@graphql({"textFilters": {"enabled": false}, "search": {"enabled": false}})';
  grant select on doc, both_of, plain to anon, authenticated;
  analyze;
`

describe('textFilters: answers', () => {
  const service = forSuite(createTestService, { sql })

  const found = rowsFound(() => service, 'docCollection')

  it.each([
    ['{title: {ieq: "HELLO world"}}', [1, 2]],
    ['{title: {iin: ["HELLO world", "HELO wurld"]}}', [1, 2, 3]],
    [String.raw`{code: {iin: ["\\\"", "B"]}}`, [3, 5]],
    ['{title: {iin: []}}', []],
    ['{title: {iin: null}}', []],
    ['{not: {title: {iin: null}}}', []],
    ['{title: {iin: "QUITE another \\"text\\""}}', [5]],
    ['{code: {ieq: "ab and more"}}', []],
    ['{title: {similar: "hello world"}}', [1, 2, 3]],
    ['{title: {wordSimilar: "quite"}}', [5]],
    ['{title: {similar: ""}}', []],
    ['{not: {title: {similar: "hello world"}}}', [5]],
    ['{title: {similar: null}}', []],
    ['{title: {startsWith: "Hel", ieq: "hello world"}}', [1]],
  ])('%s finds %j', async (condition, ids) => {
    expect(await found(condition)).toEqual(ids)
  })

  it('are served by indexes', async () => {
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    for (const [condition, index] of [
      ['{title: {ieq: "HELLO world"}}', 'doc_lower_idx'],
      ['{title: {iin: ["HELLO world"]}}', 'doc_lower_idx'],
      ['{title: {similar: "hello world"}}', 'doc_title_idx'],
      ['{title: {wordSimilar: "hello"}}', 'doc_title_idx'],
    ] as const) {
      dataOf(await service.graphql(`{ docCollection(filter: ${condition}) { edges { node { id } } } }`))
      expect(await lastPlan(service, { settings })).toContain(index)
    }
  })

  it('are those of the additions that are on, and without trigrams for whom the extension is closed', async () => {
    const shown = await introspect(service)
    const own = (name: string) => namesOf(shown, name).filter((field) => /^i(?:eq|in)$|imilar$|^search/.test(field))
    expect(own('TextFilter')).toEqual(['ieq', 'iin', 'similar', 'wordSimilar'])
    expect(own('SearchedTextFilter')).toEqual(['ieq', 'iin', 'search', 'searchPhrase', 'searchPlain', 'similar', 'wordSimilar']) // oxfmt-ignore
    expect(messagesOf(await service.graphql('{ plainCollection(filter: {title: {ieq: "a"}}) { edges { cursor } } }'))[0]).toMatch(/not defined by type "StringFilter"/) // oxfmt-ignore
    const closed = await introspect(service, { role: 'authenticated', claims: {} })
    expect(namesOf(closed, 'TextFilter')).not.toContain('similar')
    const answer = await service.graphql('{ docCollection(filter: {title: {ieq: "helo wurld"}}) { edges { node { id } } } }', { role: 'authenticated' }) // oxfmt-ignore
    expect(dataOf(answer).docCollection.edges).toEqual([{ node: { id: 3 } }])
  })
})

it('trigrams come and go with the extension', async () => {
  const service = await createTestService({
    sql: `
      comment on schema public is '@graphql({"introspection": true, "textFilters": {"enabled": true}})';
      create schema ext; grant usage on schema ext to anon;
      create table doc (id int primary key, title text); insert into doc values (1, 'Hello'); grant select on doc to anon;
    `,
  })
  try {
    const ask = async (): Promise<readonly string[]> => {
      const { errors = [] } = await service.graphql(
        '{ docCollection(filter: {title: {similar: "helo"}}) { edges { cursor } } }',
      )
      return errors.map(({ message }) => message)
    }
    expect(await ask()).toEqual(['Field "similar" is not defined by type "TextFilter".'])
    await service.db.query('create extension pg_trgm schema ext')
    expect(await ask()).toEqual([])
    await service.db.query('drop extension pg_trgm')
    expect(await ask()).toEqual(['Field "similar" is not defined by type "TextFilter".'])
  } finally {
    await service.close()
  }
})
