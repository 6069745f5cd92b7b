import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "search": {"enabled": true}})';
  create table doc (
    id int primary key, title text, code varchar(8), words tsvector generated always as (to_tsvector('english', title)) stored
  );
  create index on doc using gin (words);
  create index on doc using gin (to_tsvector('english', title));
  insert into doc values
    (1, 'The quick brown foxes jumped', 'a-1'), (2, 'A fox is quick', 'a 1'), (3, 'Dogs sleep', null), (4, null, 'b'), (5, '', '');
  insert into doc select n, 'filler ' || n from generate_series(100, 20000) n;
  create table plain (id int primary key, title text, words tsvector);
  comment on table plain is '@graphql({"search": {"enabled": false}})';
  grant select on doc, plain to anon;
  analyze;
`

describe('search: answers', () => {
  const service = forSuite(createTestService, { sql })

  it('refuse an invalid query and a missing configuration', async () => {
    const ask = (condition: string) => service.graphql(`{ docCollection(filter: ${condition}) { edges { cursor } } }`)
    expect(messagesOf(await ask('{title: {search: "fox"}}'))).toEqual([
      'Expected value of type "SearchQuery", found "fox".',
    ])
    expect(messagesOf(await ask('{title: {search: {query: "fox", config: "klingon"}}}'))).toEqual([
      'text search configuration "klingon" does not exist',
    ])
  })

  it('are served by indexes, whether the query is a variable or not', async () => {
    const ask = (condition: string) =>
      service.graphql(
        `query Q($query: String!, $config: String) { docCollection(filter: ${condition}) { edges { node { id } } } }`.replace(
          condition.includes('$config') ? '' : ', $config: String',
          '',
        ),
        { variables: { query: 'foxes', config: 'english' } },
      )
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    for (const [condition, index] of [
      ['{words: {search: {query: $query, config: "english"}}}', 'doc_words_idx'],
      ['{title: {search: {query: $query, config: "english"}}}', 'doc_to_tsvector_idx'],
      ['{title: {searchPhrase: {query: $query, config: $config}}}', 'doc_to_tsvector_idx'],
    ] as const) {
      dataOf(await ask(condition))
      expect(await lastPlan(service, { settings })).toContain(index)
    }
  })

  it('are not there for a table that switches them off', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'TSVectorFilter')).toEqual(['eq', 'is', 'search', 'searchPhrase', 'searchPlain'])
    expect(messagesOf(await service.graphql('{ plainCollection(filter: {title: {search: {query: "a"}}}) { edges { cursor } } }'))[0]).toMatch(/not defined by type "StringFilter"/) // oxfmt-ignore
  })
})

describe('ranks and headlines', () => {
  const service = forSuite(createTestService, {
    sql: `
        comment on schema public is '@graphql({"introspection": true, "search": {"enabled": true}, "orderByRelated": {"enabled": true}})';
        create table page (
          id int primary key, text text, name varchar(20), "nameRank" int, "nameHeadline" int, "parentId" int references page,
          words tsvector generated always as (to_tsvector('english', text)) stored
        );
        insert into page (id, text, "parentId") values
          (1, 'rain', null), (2, 'rain, rain and rain', 1), (3, 'sun', 2), (4, null, 3), (5, 'rain and sun', 2),
          (6, repeat('dull words ', 60) || 'RAINING <b>"now"</b>' || repeat(' and more', 60), 2);
        grant select on page to anon;
      `,
  })

  const idsOf = (answer: { readonly edges: readonly { readonly node: { readonly id: number } }[] }) =>
    answer.edges.map(({ node }) => node.id)
  const ordered = async (orderBy: string) =>
    idsOf(dataOf(await service.graphql(`{ rows: pageCollection(orderBy: ${orderBy}) { edges { node { id } } } }`)).rows)

  it('sort by how well rows fit, nulls where they are wanted', async () => {
    const rank = 'query: "rain", config: "english"'
    expect(await ordered(`[{wordsRank: {${rank}, direction: DescNullsLast}}]`)).toEqual([2, 1, 5, 6, 3, 4])
    expect(await ordered(`[{textRank: {${rank}, direction: DescNullsFirst}}]`)).toEqual([4, 2, 1, 5, 6, 3])
    expect(await ordered(`[{textRank: {${rank}, direction: AscNullsLast}}]`)).toEqual([3, 1, 5, 6, 2, 4])
    expect(await ordered(`[{parent: {textRank: {${rank}, direction: DescNullsLast}}}]`)).toEqual([3, 5, 6, 2, 4, 1])
    expect(await ordered('[{textRank: null}]')).toEqual([1, 2, 3, 4, 5, 6])
    expect(await ordered('[{textRank: {query: "", direction: DescNullsLast}}]')).toEqual([1, 2, 3, 5, 6, 4])
  })

  it('show excerpts with marks, whatever these are, or the whole text', async () => {
    const headline = async (id: number, args: string, variables: Record<string, unknown> = {}, head = '') => {
      const document = `query Q${head} { pageByPk(id: ${id}) { textHeadline(query: "rain", config: "english"${args}) } }`
      const answer = await service.graphql(document, { variables })
      return answer.data === null ? messagesOf(answer)[0] : dataOf(answer).pageByPk.textHeadline
    }
    expect(await headline(5, '')).toBe('<b>rain</b> and sun')
    expect(await headline(3, '')).toBe('sun')
    expect(await headline(4, '')).toBeNull()
    const excerpt = await headline(6, '')
    expect(excerpt).toContain('<b>RAINING</b>')
    expect(excerpt.length).toBeLessThan(300)
    expect((await headline(6, ', whole: true')).length).toBeGreaterThan(1_000)
    expect(await headline(5, String.raw`, start: "\"', StopSel=", stop: "\\\""`)).toBe(
      String.raw`"', StopSel=rain\" and sun`,
    )
    expect(await headline(5, ', start: $a, stop: $b', { a: '[', b: ']' }, '($a: String, $b: String)')).toBe(
      '[rain] and sun',
    )
    expect(await headline(5, ', start: $a', {}, '($a: String)')).toBe('<b>rain</b> and sun')
    expect(await headline(5, `, start: "${'x'.repeat(1_001)}"`)).toBe(
      'Invalid input for String type. Maximum character length 1000',
    )
  })

  it('give way to what has their name', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'page').filter((name) => /Headline$/.test(name))).toEqual(['nameHeadline', 'textHeadline'])
    const orders = namesOf(shown, 'pageOrderBy').filter((name) => /Rank$/.test(name))
    expect(orders).toEqual(['nameRank', 'textRank', 'wordsRank'])
    expect(await ordered('[{nameRank: AscNullsLast}]')).toEqual([1, 2, 3, 4, 5, 6])
  })
})
