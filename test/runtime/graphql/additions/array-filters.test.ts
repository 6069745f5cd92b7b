import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { rowsFound } from '../../../support/rows-found.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "arrayFilters": {"enabled": true}})';
  create type mood as enum ('low');
  create table doc (id int primary key, laps int[], tags text[], at timestamptz[], price numeric(6,2)[], moods mood[], code varchar(3)[]);
  create index on doc using gin (laps);
  insert into doc values
    (1, '{1,5,9}', '{night,"a b"}', '{2026-01-01 10:00+00}', '{1.5}', '{low}', '{ab}'),
    (2, '{}', '{}', '{}', '{}', '{}', '{}'), (3, '{null,7}', '{null}', null, null, null, null), (4),
    (5, '{{1,2},{3,4}}', '{day,night}', null, '{2.25,3}', null, '{abc,d}');
  insert into doc (id, laps) select n, array[n] from generate_series(100, 20000) n;
  create table plain (id int primary key, laps int[]);
  comment on table plain is '@graphql({"arrayFilters": {"enabled": false}})';
  grant select on doc, plain to anon;
  analyze;
`.replace('(4),', '(4, null, null, null, null, null, null),')

describe('arrayFilters: answers', () => {
  const service = forSuite(createTestService, { sql })

  const found = rowsFound(() => service, 'docCollection')

  it.each([
    ['{laps: {some: {gt: 6}}}', [1, 3]],
    ['{laps: {some: {eq: 4}}}', [5]],
    ['{laps: {some: {gt: 1, lt: 4}}}', [5]],
    ['{laps: {some: {gt: 1}, every: {lt: 5}}}', [5]],
    ['{laps: {every: {gt: 0}}}', [1, 2, 5]],
    ['{laps: {every: {is: NOT_NULL}}}', [1, 2, 5]],
    ['{laps: {some: {is: NULL}}}', [3]],
    ['{laps: {none: {gt: 6}}}', [2, 5]],
    ['{laps: {some: {}}}', [1, 3, 5]],
    ['{laps: {none: {}}}', [2]],
    ['{laps: {every: {}}}', [1, 2, 3, 4, 5]],
    ['{laps: {some: null}}', [1, 2, 3, 4, 5]],
    ['{laps: {some: {eq: null}}}', []],
    ['{laps: {some: {in: [9, 7]}}}', [1, 3]],
    ['{not: {laps: {some: {gt: 6}}}}', [2, 5]],
    ['{not: {laps: {some: {eq: 1}}}}', [2, 3]],
    ['{tags: {some: {startsWith: "n"}}}', [1, 5]],
    ['{tags: {some: {eq: "a b"}, contains: ["night"]}}', [1]],
    ['{at: {some: {lte: "2026-01-01T11:00:00+01:00"}}}', [1]],
    ['{price: {some: {gt: "2"}}}', [5]],
    ['{code: {every: {like: "a%"}}}', [1, 2]],
    ['{code: {some: {eq: "abcd"}}}', []],
  ])('%s finds %j', async (condition, ids) => {
    expect(await found(condition)).toEqual(ids)
  })

  it('are served by an index where an element is named', async () => {
    dataOf(await service.graphql('{ docCollection(filter: {laps: {some: {eq: 500}}}) { edges { node { id } } } }'))
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    expect(await lastPlan(service, { settings })).toContain('doc_laps_idx')
  })

  it('are not there for arrays of enums, nor for a table that switches them off', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'docFilter')).not.toContain('moods')
    expect(namesOf(shown, 'IntArrayFilter')).toEqual(['containedBy', 'contains', 'eq', 'every', 'is', 'none', 'overlaps', 'some']) // oxfmt-ignore
    expect(messagesOf(await service.graphql('{ plainCollection(filter: {laps: {some: {eq: 1}}}) { edges { cursor } } }'))[0]).toMatch(/not defined by type "IntListFilter"/) // oxfmt-ignore
  })
})
