/**
 * The best SQL that we could write by hand for each operation: one statement each, whose one value is the `data`
 * of the answer. Nothing of it is made by the compiler. A cursor need not be ours: it only has to lead on.
 */

export interface HandWritten {
  readonly name: string
  readonly text: string
  /** The statement's parameters from the variables of the operation's document. */
  readonly values: (variables: Readonly<Record<string, unknown>>) => readonly (string | null)[]
}

const post = 'p.id, p.title, p.status, p.created_at as "createdAt", p.author_id as "authorId"'

const key = `select row_to_json(z) from (select (
  select row_to_json(t) from (select ${post} from posts p where p.id = $1::int) t) as "postsByPk") z`

const page = (rows: number): string => `select row_to_json(z) from (select (select row_to_json(k) from (
  select a[1:${rows}] as edges,
    (select row_to_json(i) from (select
      cardinality(a) > ${rows} as "hasNextPage", false as "hasPreviousPage") i) as "pageInfo"
  from (select array_agg(row_to_json(e.*)) as a
    from (select p.id, p.title, p.status, p.created_at, p.author_id from posts p where p.status = $1::post_status
      order by p.created_at desc, p.id limit ${rows + 1}) p,
    lateral (select ${post}) n,
    lateral (select encode(timestamptz_send(p.created_at) || int4send(p.id), 'base64') as cursor,
      (n.*)::record as node) e) w) k) as "postsCollection") z`

const nested = `select row_to_json(z) from (select (select row_to_json(k) from (select array_agg(row_to_json(e.*)) as edges
  from (select p.id, p.title, p.author_id from posts p where p.status = $1::post_status
    order by p.created_at desc, p.id limit 10) p
  join users u on u.id = p.author_id,
  lateral (select u.id, u.name) a,
  lateral (select p.id, p.title, (a.*)::record as author, (select row_to_json(x) from (
    select array_agg(row_to_json(f.*)) as edges
    from (select c.id, c.body, c.author_id from comments c where c.post_id = p.id order by c.id limit 5) c
    join users u on u.id = c.author_id,
    lateral (select u.id, u.name) a,
    lateral (select c.id, c.body, (a.*)::record as author) m,
    lateral (select (m.*)::record as node) f) x) as "commentsCollection") n,
  lateral (select (n.*)::record as node) e) k) as "postsCollection") z`

const insert = `with i as (
  insert into comments (post_id, author_id, body) values ($1::int, $2::int, $3)
  returning id, body, created_at as "createdAt", post_id as "postId", author_id as "authorId")
select row_to_json(z) from (select (select row_to_json(k) from (
  select 1 as "affectedCount", array(select row_to_json(i) from i) as records) k) as "insertIntoCommentsCollection") z`

const text = (value: unknown): string => String(value)

/** By the name of the operation (operations.ts). */
export const handWritten: Readonly<Record<string, HandWritten>> = {
  key: { name: 'key', text: key, values: ({ id }) => [text(id)] },
  page: { name: 'page', text: page(30), values: ({ status }) => [text(status)] },
  thousand: { name: 'thousand', text: page(1_000), values: ({ status }) => [text(status)] },
  nested: { name: 'nested', text: nested, values: ({ status }) => [text(status)] },
  insert: {
    name: 'insert',
    text: insert,
    values: ({ postId, authorId, body }) => [text(postId), text(authorId), text(body)],
  },
}
