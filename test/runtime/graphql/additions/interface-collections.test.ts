import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { fieldsOf, introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const comment = (settings: object): string => `'@graphql(${JSON.stringify(settings)})'`
const collected = { polymorphism: { collections: ['Work'] }, totalCount: { enabled: true } }

const animal = { polymorphism: { collections: ['Animal'] } }

const sql = `
  comment on schema public is ${comment({ introspection: true, inflect_names: true, schemaReport: { enabled: true }, explain: { enabled: true }, limits: { rows: 100 }, max_rows: 50 })};
  create table film (id int primary key, title text not null, made date, minutes int, score numeric(6,2), hidden boolean not null default false);
  create table song (id uuid primary key, title varchar(80), made date, score numeric, deleted_at timestamptz);
  create table speaker (id int primary key, name text);
  create table talk (event text, place int, title text, made date, score numeric(6,2), speaker_id int references speaker, primary key (event, place));
  insert into speaker values (1, 'Ada'), (2, 'Bob');
  insert into film select n, 'film ' || n, case when n % 9 <> 0 then '2020-01-01'::date + n % 40 end, n, n, n = 2 from generate_series(1, 3000) n;
  insert into song select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, case when n % 4 <> 0 then 'song ' || n % 5 end,
    case when n % 5 <> 0 then '2020-01-01'::date + n % 40 end, n / 10.0, case when n % 7 = 0 then '2021-01-01'::timestamptz end from generate_series(1, 3000) n;
  insert into talk select 'e' || n % 3, n, 'talk ' || n % 5, '2020-01-01'::date + n % 40, n, n % 2 + 1 from generate_series(1, 3000) n;
  create table cat (id int primary key, name text);
  create table dog (id int primary key, name text);
  create table owl (id int primary key, name text);
  insert into cat values (1, 'a'), (4, 'b');
  insert into dog values (2, 'c');
  insert into owl values (3, 'd');
  create index on film (made, id);
  create index on song (made, id);
  create index on talk (made, event, place);
  alter table film enable row level security;
  create policy seen on film using (not hidden);
  comment on table film is ${comment(collected)};
  comment on table song is ${comment({ ...collected, softDelete: 'deleted_at' })};
  comment on table talk is ${comment({ ...collected, max_rows: 20 })};
  comment on table cat is ${comment(animal)};
  comment on table dog is ${comment(animal)};
  comment on table owl is ${comment(animal)};
  grant all on film, song, talk, speaker, cat, dog, owl to anon;
  analyze;
`

describe('collections of interfaces', () => {
  const service = forSuite(createTestService, { sql })
  const ask = async (query: string, variables = {}) => dataOf(await service.graphql(query, { variables }))
  const works = async (args: string, node = '__typename') =>
    (await ask(`{ found: workCollection(${args}) { edges { node { ${node} } } } }`)).found.edges.map(
      ({ node: found }: { node: object }) => found,
    )

  it('have the shared columns in filters, and in orders those that are written alike', async () => {
    const schema = await introspect(service)
    expect(fieldsOf(schema, 'Work')).toEqual(['nodeId: ID!', 'title: String', 'made: Date', 'score: BigFloat'])
    expect(signatureOf(schema, 'Query', 'workCollection')).toBe(
      'workCollection(first: Int, last: Int, before: Cursor, after: Cursor, offset: Int, filter: WorkFilter, orderBy: [WorkOrderBy!], deleted: DeletedRows!): WorkConnection!',
    )
    expect(namesOf(schema, 'WorkConnection')).toEqual(['edges', 'pageInfo', 'totalCount'])
    expect(fieldsOf(schema, 'WorkEdge')).toEqual(['cursor: String!', 'node: Work!'])
    expect(namesOf(schema, 'WorkFilter')).toEqual(['title', 'made', 'score', 'and', 'or', 'not'])
    // One of the scores holds what the others would round.
    expect(namesOf(schema, 'WorkOrderBy')).toEqual(['title', 'made'])
  })

  it('read no more of each table than the page may have, by an index that serves the order', async () => {
    await ask(
      'query Q($first: Int) { workCollection(first: $first, orderBy: [{made: AscNullsLast}]) { edges { node { title } } } }',
      {
        first: 7,
      },
    )
    const plan = await lastPlan(service, { analyze: true })
    for (const index of ['film_made_id_idx', 'song_made_id_idx', 'talk_made_event_place_idx'])
      expect(plan).toMatch(new RegExp(`"Index Name":"${index}"`))
    expect(plan).not.toContain('"Seq Scan"')
    const read = [...plan.matchAll(/"Actual Rows":(\d+)/g)].map(([, rows]) => Number(rows))
    expect(Math.max(...read)).toBeLessThanOrEqual(21)
  })

  it('count in limits as a page of what is selected of all types', async () => {
    const { errors } = await service.graphql(`{ workCollection(first: 15) { edges { node {
      ... on Film { nodeId } ... on Talk { speaker { talkCollection(first: 6) { edges { node { place } } } } } } } } }`)
    expect(errors?.map(({ message }) => message)).toEqual([
      'The document may select 105 rows; at most 100 are allowed.',
    ])
  })

  it('are explained under their field', async () => {
    const { extensions } = await service.graphql(
      '{ all: workCollection(first: 1) { edges { node { ... on Talk { by: speaker { name } } } } } }',
      { extensions: { explain: true } },
    )
    const text = JSON.stringify(extensions?.['explain'])
    for (const table of ['film', 'song', 'talk'])
      expect(text).toMatch(new RegExp(`"Relation Name":"${table}"[^}]*"GraphQL Path":\\["all"\\]`))
    expect(text).toMatch(/"Relation Name":"speaker"[^}]*"GraphQL Path":\["all","edges","node","by"\]/)
  })

  it('have for each role the tables that it may read, and no field without one', async () => {
    const shown = async () => {
      const schema = await introspect(service)
      return [signatureOf(schema, 'Query', 'workCollection') !== undefined, namesOf(schema, 'WorkOrderBy')]
    }
    await service.db.query('revoke select on song from anon; revoke select (made) on film from anon')
    expect(await shown()).toEqual([true, ['title', 'made', 'score']])
    expect(await works('last: 1, filter: {score: {gte: "3000"}}')).toEqual([{ __typename: 'Talk' }])
    await service.db.query('revoke select on film, talk from anon')
    expect(await shown()).toEqual([false, []])
    await service.db.query('grant select on film, song, talk to anon')
    expect(await shown()).toEqual([true, ['title', 'made']])
  })

  it('leave their name to tables and functions, and lose it with one of their types', async () => {
    const report = async () =>
      JSON.stringify((await service.graphql('{ __typename }', { extensions: { schemaReport: true } })).extensions)
    const meaning = async () => signatureOf(await introspect(service), 'Query', 'workCollection')?.replace(/\(.*\)/, '')
    await service.db.query(`create function "workCollection"() returns int language sql stable as 'select 1'`)
    expect(await meaning()).toBe('workCollection: Int')
    expect(await report()).toContain('workCollection')
    await service.db.query('revoke execute on function "workCollection" from public')
    expect(await meaning()).toBeUndefined()
    await service.db.query(
      'drop function "workCollection"; create table "WorkEdge" (id int primary key); grant select on "WorkEdge" to anon',
    )
    expect(await meaning()).toBeUndefined()
    await service.db.query('drop table "WorkEdge"')
    expect(await meaning()).toBe('workCollection: WorkConnection!')
  })
})
