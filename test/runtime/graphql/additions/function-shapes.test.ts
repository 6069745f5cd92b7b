import { describe, expect, it } from 'vitest'
import { argument, column, enumType, fn, schema, table } from '../../../support/catalog-literal.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

const on = '@graphql({"functionShapes": {"enabled": true}})'

describe('functionShapes: the setting', () => {
  const named = (name: string) => ({ comment: `@graphql({"name": "${name}"})` })
  const functions = [
    fn('add', [argument('a'), argument('b')], 'int4', named('addInts')),
    fn('add', [argument('a', 'text'), argument('b', 'text')], 'text', named('addTexts')),
    fn('add', [argument('a', 'numeric')], 'numeric'),
    fn('nameless', [argument(''), argument('')]),
    fn('clash', [argument(''), argument('arg1')]),
    fn('feel', [argument('m', 'mood')], 'mood'),
    fn('age', [argument('', 'row:person')], 'int4'),
    fn('age_in', [argument('', 'row:person'), argument('year')], 'int4'),
  ]
  const built = (comment: string | null) =>
    build({
      schemas: [schema('public', comment)],
      types: [enumType('mood', ['ok'])],
      relations: [table('person', [column('id', 'int4', { notNull: true })])],
      functions,
    })

  it('serves none of these functions until the schema switches it on', () => {
    expect(built(null).functionFields).toEqual([])
    expect(
      built(null)
        .entity('person')
        .computed.map(({ field }) => field),
    ).toEqual(['age'])
    expect(built(null).entity('person').computed[0]).not.toHaveProperty('filter')
    expect(built(on).functionFields).toEqual(['addInts', 'addTexts', 'feel', 'nameless'])
    expect(
      built(on)
        .entity('person')
        .computed.map(({ field, filter }) => [field, filter]),
    ).toEqual([
      ['age', true],
      ['age_in', undefined],
    ])
  })

  it('names overloads by name and identity, and says why others stay hidden', () => {
    expect(
      built(on)
        .model.manifest.functions.slice(0, 2)
        .map(({ id }) => id),
    ).toEqual(['["public","add","int4, int4"]', '["public","add","text, text"]'])
    expect(built(on).diagnostics.map(({ object, message }) => `${object}: ${message}`)).toEqual([
      expect.stringMatching(/function public\.add\(numeric\): .*another function of its name/),
      expect.stringMatching(/function public\.clash\(int4, int4\): .*two of its arguments have the same GraphQL name/),
    ])
  })

  it('counts nameless arguments by their place, and passes them by it', () => {
    const nameless = built(on).model.functions.find(({ id }) => id === '["public","nameless"]')
    expect(nameless?.args.map(({ field, positional }) => [field, positional])).toEqual([
      ['arg1', true],
      ['arg2', true],
    ])
  })
})

describe('functionShapes: answers', () => {
  const service = forSuite(createTestService, {
    sql: `
        comment on schema public is '@graphql({"introspection": true, "functionShapes": {"enabled": true}})';
        create type mood as enum ('sad', 'glad');
        comment on type mood is '@graphql({"mappings": {"sad": "SAD"}})';
        create table person (id int primary key, name text, mood mood);
        create table note (id int primary key, person_id int references person);
        insert into person select n, 'Name ' || n, 'sad' from generate_series(1, 5000) n;
        create function shout(person) returns text language sql immutable as 'select upper($1.name)';
        create function secret(person) returns text language sql immutable as 'select $1.name';
        create function counted(person, text default 'x') returns text language sql stable as 'select $2 || $1.id';
        create function notes(person, first int) returns setof note language sql stable as 'select * from note';
        insert into note select n, 1 + n % 5000 from generate_series(1, 40000) n;
        create index on note (person_id, id);
        create function notes_since(person, since int) returns setof note language sql stable
          as 'select * from note where person_id = $1.id and id >= $2';
        create sequence calls;
        create function feel(mood) returns mood language sql volatile as $$ select case when nextval('calls') > 0 then $1 end $$;
        revoke execute on function secret from public;
        create index on person (upper(name));
        grant select on person, note to anon; grant select (id, name) on person to authenticated;
        grant usage on sequence calls to anon;
        analyze;
      `,
  })

  it('offers filters on computed fields that the role may call, on whole rows', async () => {
    const anon = await introspect(service)
    expect(namesOf(anon, 'personFilter')).toEqual(['id', 'name', 'mood', 'shout', 'nodeId', 'and', 'or', 'not'])
    expect(signatureOf(anon, 'person', 'counted')).toBe('counted(arg2: String): String')
    const other = await introspect(service, { role: 'authenticated' })
    expect(namesOf(other, 'personFilter')).toEqual(['id', 'name', 'nodeId', 'and', 'or', 'not'])
    expect(
      messagesOf(await service.graphql('{ personCollection(filter: {secret: {eq: "x"}}) { edges { cursor } } }')),
    ).toEqual([expect.stringMatching(/Field "secret" is not defined by type "personFilter"/)])
  })

  it('hides a set whose argument is named like one that connections have', async () => {
    expect(namesOf(await introspect(service), 'person')).not.toContain('notes')
  })

  it('leads to rows by arguments, which are filtered, sorted and paged as those of a relation, by an index', async () => {
    const page = async (after: string | null) =>
      dataOf(
        await service.graphql(
          `query Q($since: Int!, $after: Cursor) { personCollection(filter: {id: {eq: 8}}) { edges { node {
            notes_since(since: $since, first: 2, after: $after, filter: {id: {neq: 25007}}, orderBy: [{id: DescNullsLast}]) {
              edges { node { id person { name } } } pageInfo { endCursor hasNextPage } } } } } }`,
          { variables: { since: 10_000, after } },
        ),
      ).personCollection.edges[0].node.notes_since
    const first = await page(null)
    expect(first).toMatchObject({
      edges: [35007, 30007].map((id) => ({ node: { id, person: { name: 'Name 8' } } })),
      pageInfo: { hasNextPage: true },
    })
    expect((await page(first.pageInfo.endCursor)).edges.map(({ node }: { node: { id: number } }) => node.id)).toEqual([
      20007, 15007,
    ])
    expect(await lastPlan(service, { analyze: true })).toContain('"Index Name":"note_person_id_id_idx"')
  })

  it('calls a function once, whatever its result is printed as', async () => {
    expect(dataOf(await service.graphql('mutation { feel(arg1: glad) }'))).toEqual({ feel: 'glad' })
    expect(dataOf(await service.graphql('mutation { feel(arg1: SAD) }'))).toEqual({ feel: 'SAD' })
    expect((await service.db.query('select last_value::int as n from calls')).rows).toEqual([{ n: 2 }])
  })

  it('filters by an index on what the function computes', async () => {
    const query = 'query Q($n: String) { personCollection(filter: {shout: {eq: $n}}) { edges { node { id } } } }'
    expect(dataOf(await service.graphql(query, { variables: { n: 'NAME 7' } })).personCollection.edges).toHaveLength(1)
    expect(await lastPlan(service)).toContain('person_upper_idx')
  })
})
