import { pageOf, type AdditionOperation } from './additions.ts'

/** Operations on counts and on values of the owner's types (values.sql). */

type Read = Omit<AdditionOperation, 'hand' | 'writes'>

const reading = (operation: Read, text: string): AdditionOperation => ({
  ...operation,
  hand: { name: operation.name, text, values: (variables) => Object.values(variables).map(String) },
})

const goods = (columns: string, condition: string): string =>
  pageOf('goodsCollection', columns, `select p.* from goods p where ${condition} order by p.id`)

export const goodsOperations: readonly AdditionOperation[] = [
  reading(
    {
      name: 'aggregate',
      shows: ['aggregate'],
      document: `query Aggregate($status: PostStatus!) {
        postsCollection(filter: {status: {eq: $status}}) { aggregate { count min { createdAt } max { id } } }
      }`,
      variables: () => ({ status: 'published' }),
    },
    `select row_to_json(z) from (select (k.*)::record as "postsCollection" from (select (a.*)::record as aggregate from (
      select n as count, (select (m.*)::record from (select low as "createdAt") m) as min, (select (m.*)::record from (select high as id) m) as max
      from (select count(*) as n, min(p.created_at) as low, max(p.id) as high from posts p where p.status = $1::post_status) c) a) k) z`,
  ),
  reading(
    {
      name: 'total-count',
      shows: ['totalCount'],
      document: `query TotalCount($author: Int!) {
        postsCollection(first: 30, filter: {authorId: {eq: $author}}) { totalCount edges { node { id title } } }
      }`,
      variables: (draw, { users }) => ({ author: draw(users) }),
    },
    `select row_to_json(z) from (select (k.*)::record as "postsCollection" from (select
      (select count(*) from posts p where p.author_id = $1::int) as "totalCount",
      array(select (e.*)::record from (select p.id, p.title from posts p where p.author_id = $1::int order by p.id limit 30) p,
        lateral (select p.id, p.title) n, lateral (select (n.*)::record as node) e) as edges) k) z`,
  ),
  reading(
    {
      name: 'distinct-on',
      shows: ['distinctOn'],
      document: `query DistinctOn($kind: Int!) {
        goodsCollection(first: 30, distinctOn: [kind], orderBy: [{kind: AscNullsLast}, {id: DescNullsLast}], filter: {kind: {gte: $kind}}) {
          edges { node { id kind } }
        }
      }`,
      variables: (draw) => ({ kind: draw(2_000) }),
    },
    pageOf(
      'goodsCollection',
      'p.id, p.kind',
      'select distinct on (p.kind) p.id, p.kind from goods p where p.kind >= $1::int order by p.kind, p.id desc',
    ),
  ),
  reading(
    {
      name: 'enum-arrays',
      shows: ['enumArrays'],
      document: `query EnumArrays($tone: Tone!, $kind: Int!) {
        goodsCollection(first: 30, filter: {tones: {contains: [$tone]}, kind: {eq: $kind}}) { edges { node { id tones } } }
      }`,
      variables: (draw) => ({ tone: 'loud', kind: draw(2_000) }),
    },
    goods('p.id, p.tones', 'p.tones @> array[$1::tone] and p.kind = $2::int'),
  ),
  reading(
    {
      name: 'domain',
      shows: ['domains'],
      document: `query Domain($label: String!) {
        goodsCollection(first: 30, filter: {label: {eq: $label}}) { edges { node { id label } } }
      }`,
      variables: (draw) => ({ label: `Good ${draw(5_000)}` }),
    },
    goods('p.id, p.label', 'p.label = $1'),
  ),
  reading(
    {
      name: 'composite',
      shows: ['composites'],
      document: `query Composite($city: String!, $kind: Int!) {
        goodsCollection(first: 30, filter: {kind: {eq: $kind}, home: {city: {neq: $city}}}) { edges { node { id home { city zip } } } }
      }`,
      variables: (draw) => ({ city: `City ${draw(500)}`, kind: draw(2_000) }),
    },
    goods(
      'p.id, case when p.home is not null or p.home is distinct from null then (select (h.*)::record from (select (p.home).city, (p.home).zip) h) end as home',
      '(p.home).city <> $1 and p.kind = $2::int',
    ),
  ),
  reading(
    {
      name: 'computed-filter',
      shows: ['functionShapes'],
      document: `query ComputedFilter($half: Int!) {
        goodsCollection(first: 30, filter: {half: {eq: $half}}) { edges { node { id half } } }
      }`,
      variables: (draw) => ({ half: draw(1_000) }),
    },
    goods('p.id, p.kind / 2 as half', 'p.kind / 2 = $1::int'),
  ),
  {
    name: 'upsert',
    shows: ['upsert'],
    writes: true,
    document: `mutation Upsert($id: Int!, $name: String!) {
      insertIntoTalliesCollection(objects: [{id: $id, name: $name}], onConflict: {constraint: tallies_pkey, updateFields: [name]}) {
        affectedCount records { id name }
      }
    }`,
    variables: (draw) => ({ id: draw(20_000), name: `Tally ${draw(1e6)}` }),
    hand: {
      name: 'upsert',
      text: `insert into tallies as t (id, name) values ($1::int, $2) on conflict (id) do update set name = excluded.name
        returning (select row_to_json(z) from (select (k.*)::record as "insertIntoTalliesCollection" from (
          select 1 as "affectedCount", array[(i.*)::record] as records from (select t.id, t.name) i) k) z)`,
      values: ({ id, name }) => [String(id), String(name)],
    },
  },
]
