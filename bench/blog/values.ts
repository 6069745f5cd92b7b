import type { CommentKeyName } from '../../compiler/comments/keys.ts'
import { pageOf, type AdditionOperation } from './additions.ts'

/** Operations with filters on values (values.sql), which use their indexes. */

const reading =
  (table: string) =>
  (
    shown: CommentKeyName,
    name: string,
    variables: string,
    filter: string,
    condition: string,
    values: (number: number) => Readonly<Record<string, string | number>>,
  ): AdditionOperation => ({
    name,
    shows: [shown],
    document: `query Rows(${variables}) {
    ${table}Collection(first: 30, filter: {${filter}}) { edges { node { id } } }
  }`,
    variables: (draw) => values(draw(3_000)),
    hand: {
      name,
      text: `select row_to_json(z) from (select (k.*)::record as "${table}Collection" from (select array(select (e.*)::record
      from (select p.id from ${table} p where ${condition} order by p.id limit 30) p,
        lateral (select p.id) n, lateral (select (n.*)::record as node) e) as edges) k) z`,
      values: (given) => Object.values(given).map(String),
    },
  })

const devices = reading('devices')
const notes = reading('notes')

export const valueOperations: readonly AdditionOperation[] = [
  {
    name: 'key-unique',
    shows: ['uniqueKeys'],
    document: 'query KeyUnique($email: String!) { usersByEmail(email: $email) { id name } }',
    variables: (draw, { users }) => ({ email: `user${draw(users)}@example.com` }),
    hand: {
      name: 'key-unique',
      text: `select row_to_json(z) from (select (select t from (select u.id, u.name from users u where u.email = $1) t) as "usersByEmail") z`,
      values: ({ email }) => [String(email)],
    },
  },
  {
    name: 'many-to-many',
    shows: ['manyToMany'],
    document: `query ManyToMany($label: Int!) {
    labelsByPk(id: $label) { name postCollection(first: 30) { edges { postLabels { note } node { id title } } } }
  }`,
    variables: (draw) => ({ label: draw(1_000) }),
    hand: {
      name: 'many-to-many',
      text: `select row_to_json(z) from (select (select t from (select l.name, (select k from (select array(select (e.*)::record
      from (select p.id, p.title, b.note from post_labels b join posts p on p.id = b.post_id
          where b.label_id = l.id order by p.id limit 30) p,
        lateral (select p.note) b, lateral (select p.id, p.title) n,
        lateral (select (b.*)::record as "postLabels", (n.*)::record as node) e) as edges) k) as "postCollection"
      from labels l where l.id = $1::int) t) as "labelsByPk") z`,
      values: ({ label }) => [String(label)],
    },
  },
  {
    name: 'link-to-many',
    shows: ['links'],
    document: `query LinkToMany($label: Int!) {
    labelsByPk(id: $label) { name writers(first: 30) { edges { node { id name } } } }
  }`,
    variables: (draw) => ({ label: draw(1_000) }),
    hand: {
      name: 'link-to-many',
      text: `select row_to_json(z) from (select (select t from (select l.name, (select k from (select array(select (e.*)::record
      from (select u.id, u.name from users u where u.id in
          (select p.author_id from post_labels b join posts p on p.id = b.post_id where b.label_id = l.id)
          order by u.id limit 30) p,
        lateral (select p.id, p.name) n, lateral (select (n.*)::record as node) e) as edges) k) as writers
      from labels l where l.id = $1::int) t) as "labelsByPk") z`,
      values: ({ label }) => [String(label)],
    },
  },
  {
    name: 'link-to-one',
    shows: ['links'],
    document: `query LinkToOne($post: Int!) {
    commentsCollection(first: 30, filter: {postId: {eq: $post}}) { edges { node { id replied { name } } } }
  }`,
    variables: (draw, { posts }) => ({ post: draw(posts) }),
    hand: {
      name: 'link-to-one',
      text: `select row_to_json(z) from (select (k.*)::record as "commentsCollection" from (select array(select (e.*)::record
      from (select c.id, c.post_id from comments c where c.post_id = $1::int order by c.id limit 30) c,
        lateral (select c.id, (select t from (select u.name from posts p join users u on u.id = p.author_id
          where p.id = c.post_id) t) as replied) n,
        lateral (select (n.*)::record as node) e) as edges) k) z`,
      values: ({ post }) => [String(post)],
    },
  },
  {
    name: 'union',
    shows: ['polymorphism'],
    document: `query Union($from: Int!) {
    pinsCollection(first: 30, filter: {id: {gte: $from}}) { edges { node { id target {
      __typename ... on Posts { id title } ... on Labels { name } } } } }
  }`,
    variables: (draw, { posts }) => ({ from: draw(posts) }),
    hand: {
      name: 'union',
      text: `select row_to_json(z) from (select (k.*)::record as "pinsCollection" from (select array(select (e.*)::record
      from (select * from pins p where p.id >= $1::int order by p.id limit 30) p,
        lateral (select p.id, case when p.post_id is not null
          then (select (t.*)::record from (select 'Posts' as "__typename", o.id, o.title from posts o where o.id = p.post_id) t)
          else (select (t.*)::record from (select 'Labels' as "__typename", l.name from labels l where l.id = p.label_id) t)
          end as target) n,
        lateral (select (n.*)::record as node) e) as edges) k) z`,
      values: ({ from }) => [String(from)],
    },
  },
  {
    name: 'interface-collection',
    shows: ['polymorphism'],
    document: `query Collected($from: Datetime!) {
    writtenCollection(first: 30, filter: {createdAt: {lte: $from}}, orderBy: [{createdAt: DescNullsLast}]) { edges { node {
      __typename createdAt ... on Posts { title } ... on Comments { hidden } } } }
  }`,
    variables: (draw) => ({ from: new Date(Date.now() - draw(1_000) * 3_600_000).toISOString() }),
    hand: {
      name: 'interface-collection',
      text: `select row_to_json(z) from (select (k.*)::record as "writtenCollection" from (select array(select (e.*)::record
      from (select w.node from (
        (select p.created_at, 'Posts' as t, p.id, (n.*)::record as node from posts p,
          lateral (select 'Posts' as "__typename", p.created_at as "createdAt", p.title) n
          where p.created_at <= $1::timestamptz order by p.created_at desc, p.id limit 30)
        union all
        (select c.created_at, 'Comments', c.id, (n.*)::record from comments c,
          lateral (select 'Comments' as "__typename", c.created_at as "createdAt", c.hidden) n
          where c.created_at <= $1::timestamptz order by c.created_at desc, c.id limit 30)) w
        order by w.created_at desc, w.t collate "C", w.id limit 30) e) as edges) k) z`,
      values: ({ from }) => [String(from)],
    },
  },
  devices(
    'jsonFilters',
    'filter-json-contains',
    '$part: JSON!',
    'state: {contains: $part}',
    'p.state @> $1::jsonb',
    (n) => ({
      part: JSON.stringify({ tags: [`t${n}`] }),
    }),
  ),
  devices(
    'jsonFilters',
    'filter-json-path',
    '$city: String!',
    'state: {path: {at: ["site", "city"], text: {eq: $city}}}',
    `(p.state #>> '{site,city}') = $1`,
    (n) => ({ city: `City ${n}` }),
  ),
  devices(
    'jsonFilters',
    'filter-json-number',
    '$part: JSON!, $load: BigFloat!',
    'state: {contains: $part, path: {at: ["load"], number: {lt: $load}}}',
    `p.state @> $1::jsonb and case when jsonb_typeof(p.state -> 'load') = 'number' then (p.state -> 'load')::numeric end < $2::numeric`,
    (n) => ({ part: JSON.stringify({ tags: [`t${n}`] }), load: '0.5' }),
  ),
  notes(
    'search',
    'filter-search-text',
    '$query: String!',
    'title: {search: {query: $query, config: "simple"}}',
    `to_tsvector('simple', p.title) @@ websearch_to_tsquery('simple', $1)`,
    (n) => ({ query: `w${n}` }),
  ),
  notes(
    'search',
    'filter-search-vector',
    '$query: String!',
    'body: {searchPlain: {query: $query, config: "simple"}}',
    `p.body @@ plainto_tsquery('simple', $1)`,
    (n) => ({ query: `w${n}` }),
  ),
  notes(
    'rangeFilters',
    'filter-range-value',
    '$value: Int!',
    'during: {containsValue: $value}',
    'p.during @> $1::int4',
    (n) => ({
      value: n,
    }),
  ),
  notes(
    'rangeFilters',
    'filter-range-overlaps',
    '$range: Opaque!',
    'during: {overlaps: $range}',
    'p.during && $1::int4range',
    (n) => ({
      range: `[${n},${n + 5})`,
    }),
  ),
  notes(
    'networkFilters',
    'filter-network',
    '$network: Opaque!',
    'address: {containedBy: $network}',
    'p.address << $1::inet',
    (n) => ({
      network: `10.0.${n % 256}.${n % 16}0/28`,
    }),
  ),
  notes(
    'textFilters',
    'filter-text-case',
    '$title: String!',
    'title: {ieq: $title}',
    'lower(p.title) = lower($1)',
    (n) => ({
      title: `NOTE W${n} OF V${n % 97}`,
    }),
  ),
  notes('textFilters', 'filter-text-trigrams', '$title: String!', 'title: {similar: $title}', 'p.title % $1', (n) => ({
    title: `note w${n} of v${n % 97}`,
  })),
  notes(
    'ltreeFilters',
    'filter-ltree',
    '$path: Opaque!',
    'path: {descendantOf: $path}',
    'p.path <@ $1::ltree',
    (n) => ({
      path: `p${n % 97}.q${n}`,
    }),
  ),
  notes(
    'columnFilters',
    'filter-columns',
    '$after: Int!',
    'columns: {bound: {lt: id}}, id: {gt: $after}',
    'p.bound < p.id and p.id > $1::int4',
    (n) => ({
      after: n,
    }),
  ),
  notes(
    'arrayFilters',
    'filter-array-element',
    '$lap: Int!',
    'laps: {some: {eq: $lap}}',
    'p.laps @> array[$1::int4]',
    (n) => ({
      lap: n,
    }),
  ),
  {
    name: 'soft-delete',
    shows: ['softDelete'],
    document: `query SoftDelete($id: Int!) {
      papersCollection(first: 30, filter: {parentId: {eq: $id}}) { edges { node { id title parent { title } } } }
    }`,
    variables: (draw) => ({ id: draw(100) }),
    hand: {
      name: 'soft-delete',
      text: pageOf(
        'papersCollection',
        `p.id, p.title, (select row_to_json(y) from (select u.title) y where u.id is not null) as parent`,
        `select p.id, p.title, p.parent_id from papers p where p.parent_id = $1::int and p.deleted_at is null order by p.id`,
      ).replace(' limit 30) p,', ' limit 30) p left join papers u on u.id = p.parent_id and u.deleted_at is null,'),
      values: ({ id }) => [String(id)],
    },
  },
  {
    name: 'default-page',
    shows: ['defaultOrder', 'defaultFilter'],
    document: 'query DefaultPage { lettersCollection(first: 30) { edges { node { id title } } } }',
    variables: () => ({}),
    hand: {
      name: 'default-page',
      text: pageOf(
        'lettersCollection',
        'p.id, p.title',
        'select p.id, p.title from letters p where not p.spam order by p.sent desc, p.id',
      ),
      values: () => [],
    },
  },
  {
    name: 'order-one-of',
    shows: ['oneOf'],
    document: `query OrderOneOf($order: [LettersOrderBy!]) {
      lettersCollection(first: 30, orderBy: $order) { edges { node { id title } } }
    }`,
    variables: () => ({ order: [{ title: 'AscNullsLast' }, { sent: 'DescNullsLast' }] }),
    hand: {
      name: 'order-one-of',
      text: pageOf(
        'lettersCollection',
        'p.id, p.title',
        'select p.id, p.title from letters p where not p.spam order by p.title, p.sent desc, p.id',
      ),
      values: () => [],
    },
  },
]
