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
  from (select array(
    select (select row_to_json(e) from (select
      encode(timestamptz_send(p.created_at) || int4send(p.id), 'base64') as cursor,
      (select row_to_json(n) from (select p.id, p.title, p.status, p."createdAt", p."authorId") n) as node) e)
    from (select ${post}, p.created_at from posts p where p.status = $1::post_status
      order by p.created_at desc, p.id limit ${rows + 1}) p) a offset 0) w) k) as "postsCollection") z`

const author = (table: string): string =>
  `(select row_to_json(u) from (select u.id, u.name from users u where u.id = ${table}.author_id) u) as author`

const nested = `select row_to_json(z) from (select (select row_to_json(k) from (select array(
  select (select row_to_json(e) from (select (select row_to_json(n) from (select p.id, p.title, ${author('p')},
    (select row_to_json(x) from (select array(
      select (select row_to_json(f) from (select (select row_to_json(m) from (select
        c.id, c.body, ${author('c')}) m) as node) f)
      from (select c.id, c.body, c.author_id from comments c where c.post_id = p.id order by c.id limit 5) c
    ) as edges) x) as "commentsCollection") n) as node) e)
  from (select p.id, p.title, p.author_id from posts p where p.status = $1::post_status
    order by p.created_at desc, p.id limit 10) p) as edges) k) as "postsCollection") z`

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
