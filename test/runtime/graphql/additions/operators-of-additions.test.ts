import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

/** Which rows the operators find is in the goldens; `fixtures/range-filters` and its like have an alias for each of them. */

const additions = ['arrayFilters', 'rangeFilters', 'networkFilters', 'ltreeFilters', 'textFilters', 'search']
const all = (enabled: boolean): string =>
  additions.map((name) => `"${name}": {"enabled": ${String(enabled)}}`).join(', ')
const sql = `
  comment on schema public is '@graphql({"introspection": true, ${all(true)}})';
  create schema ext;
  create extension ltree schema ext;
  create extension pg_trgm schema ext;
  grant usage on schema ext to anon;
  create type mood as enum ('low');
  create table thing (
    id int primary key, laps int[], moods mood[], seats int4range, many int4multirange, address inet, network cidr, path ext.ltree, title text
  );
  create index on thing using gin (laps);
  create index on thing using gist (seats);
  create index on thing using gist (many);
  create index on thing using gist (address inet_ops);
  create index on thing using gist (network inet_ops);
  create index on thing using gist (path);
  create index on thing (lower(title));
  create index on thing using gin (title ext.gin_trgm_ops);
  insert into thing select n, array[n], null, int4range(n, n + 1), int4multirange(int4range(n, n + 2)), '172.16.0.0'::inet + n,
    set_masklen(('172.16.0.0'::inet + n)::cidr, 32), ext.text2ltree('filler.n' || n), md5(n::text)
    from generate_series(100, 20000) n;
  insert into thing (id, title) values (1, 'Helo Wurld');
  create table lower (id int primary key, title text);
  comment on table lower is '@graphql({"search": {"enabled": false}})';
  create table plain (id int primary key, laps int[], seats int4range, address inet, path ext.ltree, title text);
  comment on table plain is '@graphql({${all(false)}})';
  grant select on thing, lower, plain to anon, authenticated;
  analyze;
`

describe('operators of additions', () => {
  const service = forSuite(createTestService, { sql })
  const found = (condition: string, table = 'thing') =>
    service.graphql(`{ ${table}Collection(filter: {${condition}}) { edges { node { id } } } }`)

  it.each([
    ['laps: {some: {eq: 500}}', 'thing_laps_idx'],
    ['seats: {containsValue: 500}', 'thing_seats_idx'],
    ['seats: {overlaps: "[500,502)"}', 'thing_seats_idx'],
    ['many: {containsValue: 500}', 'thing_many_idx'],
    ['address: {containedBy: "172.16.2.0/24"}', 'thing_address_idx'],
    ['network: {containsOrEq: "172.16.2.7"}', 'thing_network_idx'],
    ['path: {descendantOf: "filler.n500"}', 'thing_path_idx'],
    ['path: {matches: "filler.n500"}', 'thing_path_idx'],
    ['path: {eq: "world"}', 'thing_path_idx'],
    ['title: {ieq: "HELLO world"}', 'thing_lower_idx'],
    ['title: {iin: ["HELLO world"]}', 'thing_lower_idx'],
    ['title: {similar: "hello world"}', 'thing_title_idx'],
    ['title: {wordSimilar: "hello"}', 'thing_title_idx'],
  ])('are served by an index: %s by %s', async (condition, index) => {
    dataOf(await found(condition))
    expect(await lastPlan(service, { settings: ['enable_seqscan = off', 'enable_indexscan = off'] })).toContain(index)
  })

  it.each([
    ['seats: {contains: "[5,1)"}', /^range lower bound must be less than or equal to range upper bound$/],
    ['many: {contains: "[1,5)"}', /^malformed multirange literal: "\[1,5\)"$/],
    ['seats: {containsValue: "a"}', /^Int cannot represent non-integer value: "a"$/],
    ['address: {contains: "10.0.0"}', /^invalid input syntax for type inet: "10.0.0"$/],
    ['path: {descendantOf: "a..b"}', /syntax error/],
    ['path: {matches: "a{"}', /syntax error/],
  ])('refuse an operand that Postgres cannot read: %s', async (condition, message) => {
    expect(messagesOf(await found(condition))).toEqual([expect.stringMatching(message)])
  })

  it.each([
    ['laps: {some: {eq: 1}}', 'IntListFilter'],
    ['seats: {isEmpty: true}', 'OpaqueFilter'],
    ['address: {family: 4}', 'OpaqueFilter'],
    ['path: {depth: 1}', 'OpaqueFilter'],
    ['title: {ieq: "a"}', 'StringFilter'],
  ])('are not in a table that switches them off: %s', async (condition, type) => {
    expect(messagesOf(await found(condition, 'plain'))[0]).toContain(`is not defined by type "${type}"`)
  })

  it('are in types of their own', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'thingFilter')).not.toContain('moods')
    expect(namesOf(shown, 'IntArrayFilter')).toEqual(['containedBy', 'contains', 'eq', 'every', 'is', 'none', 'overlaps', 'some']) // oxfmt-ignore
    const own = (name: string) => namesOf(shown, name).filter((field) => /^i(?:eq|in)$|imilar$|^search/.test(field))
    expect(own('TextFilter')).toEqual(['ieq', 'iin', 'similar', 'wordSimilar'])
    expect(own('SearchedTextFilter')).toEqual(['ieq', 'iin', 'search', 'searchPhrase', 'searchPlain', 'similar', 'wordSimilar']) // oxfmt-ignore
  })

  it('are not there for a role to which the extension is closed', async () => {
    expect(namesOf(await introspect(service), 'thingFilter')).toContain('path')
    const closed = await introspect(service, { role: 'authenticated', claims: {} })
    expect(namesOf(closed, 'thingFilter')).not.toContain('path')
    expect(namesOf(closed, 'TextFilter')).not.toContain('similar')
    const answer = await service.graphql('{ thingCollection(filter: {title: {ieq: "helo wurld"}}) { edges { node { id } } } }', { role: 'authenticated' }) // oxfmt-ignore
    expect(dataOf(answer).thingCollection.edges).toEqual([{ node: { id: 1 } }])
  })

  it('come and go with the extension', async () => {
    const similar = 'title: {similar: "helo"}'
    const unknown = /^Field "similar" is not defined by type "\w+"/
    await service.db.query('drop extension pg_trgm cascade')
    expect(messagesOf(await found(similar))[0]).toMatch(unknown)
    await service.db.query('create extension pg_trgm schema ext')
    dataOf(await found(similar))
    await service.db.query('drop extension pg_trgm')
    expect(messagesOf(await found(similar))[0]).toMatch(unknown)
  })
})
