import { describe, expect, it } from 'vitest'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

/** Which documents can be watched, and which changes matter to them (spec/graphql.md 16.1). */
describe('a subscription', () => {
  const service = forSuite(createTestService, {
    withTriggers: true,
    sql: `comment on schema public is
          '@graphql({"inflect_names": true, "introspection": true, "live": {"enabled": true},
            "relationFilters": {"enabled": true}, "orderByRelated": {"enabled": true}})';
        create table author (id int primary key, name text, boss_id int references author);
        create table post (id uuid primary key, author_id int references author, title text, at timestamptz, day date, done bool);
        create table note (post_id uuid references post, n bigint, primary key (post_id, n));
        comment on table note is '@graphql({"totalCount": {"enabled": true}, "links": {"author": ["post", "author"]},
          "polymorphism": {"unions": {"about": ["author", "post"]}}})';
        create table tag (id int primary key, name text, gone bool);
        comment on table tag is '@graphql({"softDelete": "gone"})';
        create table post_tag (post_id uuid references post, tag_id int references tag, n int, primary key (post_id, tag_id));
        comment on table post_tag is '@graphql({"manyToMany": {"enabled": true}})';
        comment on table author is '@graphql({"links": {
          "tags": [{"postCollection": {"done": {"eq": true}}}, "postTagCollection", "tag"]}})';
        create table secret (id int primary key, author_id int references author);
        comment on table secret is '@graphql({"live": {"enabled": false}})';
        create table member (id int primary key, room int);
        alter table member enable row level security;
        create function rooms() returns setof int language sql stable security definer as 'select room from member';
        create policy own on member using (room in (select rooms()));
        create function clock() returns text language sql stable as 'select now()::text';
        create function newest() returns setof post language sql stable as 'select * from post order by at limit 3';
        create function author_words(a author) returns int language sql stable as 'select 1 from post';
        create function "upTo"(n int) returns int language sql immutable as 'select n';
        grant all on all tables in schema public to anon`,
  })

  /** As `table(column=value, ...)`. */
  const interests = async (query: string, ask?: AskOptions): Promise<unknown> => {
    const answer = await service.watch(query, ask)
    if (answer.kind === 'refused') return JSON.parse(answer.response.body.toString())
    if (answer.kind === 'once') return answer.kind
    return answer.interests
      .map(({ relation, pins }) => `${relation.name}(${pins.map((pin) => `${pin.column}=${pin.value}`).join(', ')})`)
      .sort()
  }
  const id = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'

  it('has the fields of what can be watched', async () => {
    const { data, errors } = await service.graphql('{ __type(name: "Subscription") { fields { name } } }')
    expect(errors).toBeUndefined()
    expect(data.__type.fields.map(({ name }: { name: string }) => name)).toEqual([
      ...['authorByPk', 'authorCollection', 'memberByPk', 'memberCollection', 'newest', 'node', 'noteByPk'],
      ...['noteCollection', 'postByPk', 'postCollection', 'postTagByPk', 'postTagCollection', 'tagByPk'],
      ...['tagCollection', 'upTo'],
    ])
  })

  it('is answered as a query in a stream, and nowhere else', async () => {
    const document = 'subscription { authorCollection { edges { node { name } } } }'
    expect((await service.graphql(document)).errors?.[0]?.extensions.code).toBe('STREAM_REQUIRED')
    expect(await service.graphql(document, { live: true })).toEqual({ data: { authorCollection: { edges: [] } } })
    expect(await interests('{ authorCollection { edges { node { name } } } }')).toBe('once')
  })

  it('has one root field', async () => {
    const two = 'subscription { a: authorByPk(id: 1) { name } b: authorByPk(id: 2) { name } }'
    expect(await interests(two)).toMatchObject({
      errors: [{ message: 'Anonymous Subscription must select only one top level field.' }],
    })
    expect(await interests('subscription { __typename }')).toMatchObject({
      errors: [{ message: 'Anonymous Subscription must not select an introspection top level field.' }],
    })
  })

  it('has it whatever its variables are', async () => {
    const document = `subscription ($if: Boolean!) { authorByPk(id: 1) @include(if: $if) { name } }`
    expect(await interests(document, { variables: { if: true } })).toMatchObject({
      errors: [
        {
          message: 'Anonymous Subscription must not use `@skip` or `@include` directives in the top level selection.',
        },
      ],
    })
    const spread = `subscription S { ...F } fragment F on Subscription { a: authorByPk(id: 1) { name } ...G }
      fragment G on Subscription { ...F b: authorByPk(id: 2) { name } }`
    expect(await interests(spread, { operationName: 'S' })).toMatchObject({
      errors: [
        { message: 'Subscription "S" must select only one top level field.' },
        { message: 'Cannot spread fragment "F" within itself via "G".' },
      ],
    })
  })

  it('is refused where it reaches what cannot be watched, with the path', async () => {
    const document = `subscription { authorCollection(filter: {secretCollection: {some: {}}}) { edges { node {
      secretCollection { edges { node { id } } } other: secretCollection { edges { node { id } } } } } } }`
    expect(await interests(document)).toEqual({
      data: null,
      errors: [
        {
          message: 'table public.secret is not live.',
          path: ['authorCollection'],
          extensions: { code: 'NOT_LIVE' },
        },
      ],
    })
    const below = 'subscription { authorByPk(id: 1) { s: secretCollection { edges { node { id } } } } }'
    expect(await interests(below)).toMatchObject({ errors: [{ path: ['authorByPk', 's'] }] })
    const unknown = 'subscription { clock }'
    expect(await interests(unknown)).toMatchObject({
      errors: [{ message: 'Cannot query field "clock" on type "Subscription".' }],
    })
  })

  it.each<[string, readonly string[], AskOptions?]>([
    ['authorCollection { edges { node { name } } }', ['author()']],
    ['authorByPk(id: 1) { name }', ['author(id=1)']],
    ['authorCollection(filter: {id: {eq: 1}}) { edges { node { name } } }', ['author(id=1)']],
    ['authorCollection(filter: {id: {gt: 1}}) { edges { node { name } } }', ['author()']],
    ['authorCollection(filter: {not: {id: {eq: 1}}}) { edges { node { name } } }', ['author()']],
    ['authorCollection(filter: {id: {in: [1, 2]}}) { edges { node { name } } }', ['author(id=1)', 'author(id=2)']],
    [
      'authorCollection(filter: {or: [{id: {eq: 1}}, {name: {eq: "x"}}]}) { edges { node { name } } }',
      ['author(id=1)', 'author(name=x)'],
    ],
    ['authorCollection(filter: {or: [{id: {eq: 1}}, {name: {gt: "x"}}]}) { edges { node { name } } }', ['author()']],
    [
      'authorCollection(filter: {and: [{id: {in: [1, 2]}}, {name: {eq: "x"}}]}) { edges { node { name } } }',
      ['author(id=1, name=x)', 'author(id=2, name=x)'],
    ],
    ['authorCollection(filter: {id: {eq: null}}) { edges { node { name } } }', ['author()']],
    [`postByPk(id: "${id.toUpperCase()}") { title }`, [`post(id=${id})`]],
    [`postByPk(id: "{${id}}") { title }`, ['post()']],
    [
      'postCollection(filter: {done: {eq: true}, day: {eq: "2020-01-02"}}) { edges { node { id } } }',
      ['post(day=2020-01-02, done=t)'],
    ],
    ['postCollection(filter: {day: {eq: "2020-1-2"}}) { edges { node { id } } }', ['post()']],
    ['postCollection(filter: {at: {eq: "2020-01-02"}}) { edges { node { id } } }', ['post()']],
    [
      `postByPk(id: "${id}") { noteCollection(filter: {n: {eq: "07"}}) { totalCount } author { name } }`,
      ['author()', `note(n=7, post_id=${id})`, `post(id=${id})`],
    ],
    [
      'postCollection(filter: {authorId: {eq: 4}}) { edges { node { author { boss { name } } } } }',
      ['author()', 'post(author_id=4)'],
    ],
    [
      'postCollection(filter: {authorId: {eq: 4}}) { edges { node { author { name } noteCollection { totalCount } } } }',
      ['author(id=4)', 'note()', 'post(author_id=4)'],
    ],
    [
      'authorCollection(filter: {id: {eq: 1}, postCollection: {some: {title: {eq: "t"}}}}) { edges { node { id } } }',
      ['author(id=1)', 'post(author_id=1, title=t)'],
    ],
    [
      'authorCollection(filter: {id: {eq: 1}, postCollection: {every: {title: {eq: "t"}}}}) { edges { node { id } } }',
      ['author(id=1)', 'post(author_id=1)'],
    ],
    [
      'authorCollection(filter: {id: {eq: 1}}, orderBy: [{postCollection: {count: AscNullsLast}}]) { edges { node { id } } }',
      ['author(id=1)', 'post(author_id=1)'],
    ],
    ['postCollection(orderBy: [{author: {name: AscNullsLast}}]) { edges { node { id } } }', ['author()', 'post()']],
    ['authorByPk(id: 1) { authorWords }', ['author(id=1)', 'post()']],
    ['newest { edges { node { author { name } } } }', ['author()', 'post()']],
    ['memberByPk(id: 1) { room }', ['member()']],
    ['upTo(n: 1)', []],
    [
      `postByPk(id: "${id}") { tagCollection { edges { postTag { n } node { name } } } }`,
      [`post(id=${id})`, `post_tag(post_id=${id})`, 'tag()'],
    ],
    [
      'postCollection(filter: {tagCollection: {some: {id: {eq: 5}}}}) { edges { node { title } } }',
      ['post()', 'post_tag()', 'tag(id=5)'],
    ],
    [
      `noteCollection(filter: {postId: {eq: "${id}"}}) { edges { node { author { name } } } }`,
      ['author()', `note(post_id=${id})`, `post(id=${id})`],
    ],
    [
      `noteCollection(filter: {postId: {eq: "${id}"}}) { edges { node { about { ... on Author { name } } } } }`,
      ['author()', `note(post_id=${id})`, `post(id=${id})`],
    ],
    ['noteCollection(filter: {author: {id: {eq: 1}}}) { edges { node { n } } }', ['author(id=1)', 'note()', 'post()']],
    [
      'authorByPk(id: 1) { tags { edges { node { name } } } }',
      ['author(id=1)', 'post(author_id=1, done=t)', 'post_tag()', 'tag()'],
    ],
  ])('matters to it which rows it can find: %s', async (selection, expected) => {
    expect(await interests(`subscription { ${selection} }`)).toEqual(expected)
  })

  it('takes values of variables and node ids', async () => {
    const document = `subscription ($a: Int!, $b: [Int!]) { authorCollection(filter: {and: [{id: {in: $b}}, {boss: {id: {eq: $a}}}]}) { edges { node { id } } } }`
    expect(await interests(document, { variables: { a: 9, b: [3, 4] } })).toEqual([
      'author(id=3)',
      'author(id=4)',
      'author(id=9)',
    ])
    const byId = `subscription ($id: ID!) { node(nodeId: $id) { nodeId ... on Author { name } } }`
    const nodeId = Buffer.from('["public", "author", 7]').toString('base64')
    expect(await interests(byId, { variables: { id: nodeId } })).toEqual(['author(id=7)'])
  })
})
