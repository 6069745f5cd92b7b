/**
 * The best hand-written SQL for each operation: one statement each, whose only value is the `data` of the answer. It is
 * independent of the compiler. A cursor may differ from ours: it only must work. If that matters, `alike` is the
 * statement with our cursors (spec/graphql.md 5.5).
 */

export interface HandWritten {
  readonly name: string
  readonly text: string
  readonly alike?: string
  /** The statement's parameters from the variables of the operation's document. */
  readonly values: (variables: Readonly<Record<string, unknown>>) => readonly (string | null)[]
}

const post = 'p.id, p.title, p.status::text, p.created_at as "createdAt", p.author_id as "authorId"'

const key = `select row_to_json(z) from (select (
  select t from (select ${post} from posts p where p.id = $1::int) t) as "postsByPk") z`

const shortCursor = `encode(timestamptz_send(p.created_at) || int4send(p.id), 'base64')`
const jsonCursor = `encode(json_send(json_build_array(p.created_at, p.id)), 'base64')`

const page = (
  rows: number,
  cursor: string,
): string => `select row_to_json(z) from (select (k.*)::record as "postsCollection" from (
  select a[1:${rows}] as edges, (i.*)::record as "pageInfo"
  from (select array(select (e.*)::record
    from (select p.id, p.title, p.status, p.created_at, p.author_id from posts p where p.status = $1::post_status
      order by p.created_at desc, p.id limit ${rows + 1}) p,
    lateral (select ${post}) n,
    lateral (select ${cursor} as cursor, (n.*)::record as node) e) as a offset 0) w,
  lateral (select cardinality(a) > ${rows} as "hasNextPage", false as "hasPreviousPage") i) k) z`

const nested = `select row_to_json(z) from (select (k.*)::record as "postsCollection" from (select array(select (e.*)::record
  from (select p.id, p.title, p.author_id from posts p where p.status = $1::post_status
    order by p.created_at desc, p.id limit 10) p
  join users u on u.id = p.author_id,
  lateral (select u.id, u.name) a,
  lateral (select p.id, p.title, (a.*)::record as author, (select (x.*)::record from (select array(select (f.*)::record
    from (select c.id, c.body, c.author_id from comments c where c.post_id = p.id order by c.id limit 5) c
    join users u on u.id = c.author_id,
    lateral (select u.id, u.name) a,
    lateral (select c.id, c.body, (a.*)::record as author) m,
    lateral (select (m.*)::record as node) f) as edges) x) as "commentsCollection") n,
  lateral (select (n.*)::record as node) e) as edges) k) z`

const insert = `insert into comments (post_id, author_id, body) values ($1::int, $2::int, $3)
  returning (select row_to_json(z) from (select (k.*)::record as "insertIntoCommentsCollection" from (
    select 1 as "affectedCount", array[(i.*)::record] as records
    from (select id, body, created_at as "createdAt", post_id as "postId", author_id as "authorId") i) k) z)`

const pages = (rows: number): Pick<HandWritten, 'text' | 'alike'> => ({
  text: page(rows, shortCursor),
  alike: page(rows, jsonCursor),
})

const text = (value: unknown): string => String(value)

/** By the name of the operation (operations.ts). */
export const handWritten: Readonly<Record<string, HandWritten>> = {
  key: { name: 'key', text: key, values: ({ id }) => [text(id)] },
  page: { name: 'page', ...pages(30), values: ({ status }) => [text(status)] },
  thousand: { name: 'thousand', ...pages(1_000), values: ({ status }) => [text(status)] },
  nested: { name: 'nested', text: nested, values: ({ status }) => [text(status)] },
  insert: {
    name: 'insert',
    text: insert,
    values: ({ postId, authorId, body }) => [text(postId), text(authorId), text(body)],
  },
}
