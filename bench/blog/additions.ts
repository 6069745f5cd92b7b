import type { CommentKeyName } from '../../compiler/comments/keys.ts'
import type { Operation } from './operations.ts'
import type { HandWritten } from './sql.ts'

/** Operations of additions (related rows in filters and orders), which the peer does not support. */
export interface AdditionOperation extends Omit<Operation, 'name' | 'peer' | 'answers'> {
  readonly name: string
  /** The comment keys that the operation requires. */
  readonly shows: readonly CommentKeyName[]
  /** True for a mutation. */
  readonly writes?: true
  /** The best SQL that we could write by hand. */
  readonly hand: HandWritten
}

export const pageOf = (field: string, columns: string, from: string): string =>
  `select row_to_json(z) from (select (k.*)::record as "${field}" from (select array(select (e.*)::record
    from (${from} limit 30) p, lateral (select ${columns}) n, lateral (select (n.*)::record as node) e) as edges) k) z`

const text = (value: unknown): string => String(value)

export const additionOperations: readonly AdditionOperation[] = [
  {
    name: 'filter-one',
    shows: ['relationFilters'],
    document: `query FilterOne($email: String!) {
      postsCollection(first: 30, filter: {author: {email: {eq: $email}}}, orderBy: [{createdAt: DescNullsLast}]) {
        edges { node { id title } }
      }
    }`,
    variables: (draw, { users }) => ({ email: `user${draw(users)}@example.com` }),
    hand: {
      name: 'filter-one',
      text: pageOf(
        'postsCollection',
        'p.id, p.title',
        `select p.id, p.title from posts p join users u on u.id = p.author_id
         where u.email = $1 order by p.created_at desc, p.id`,
      ),
      values: ({ email }) => [text(email)],
    },
  },
  {
    name: 'filter-some',
    shows: ['relationFilters'],
    document: `query FilterSome($after: Datetime!, $hidden: Boolean!) {
      postsCollection(first: 30, orderBy: [{createdAt: DescNullsLast}],
        filter: {createdAt: {lt: $after}, commentsCollection: {some: {hidden: {eq: $hidden}}}}) {
        edges { node { id title } }
      }
    }`,
    variables: () => ({ after: '2024-06-01T00:00:00Z', hidden: false }),
    hand: {
      name: 'filter-some',
      text: pageOf(
        'postsCollection',
        'p.id, p.title',
        `select p.id, p.title from posts p where p.created_at < $1::timestamptz
         and exists (select from comments c where c.post_id = p.id and c.hidden = $2::bool)
         order by p.created_at desc, p.id`,
      ),
      values: ({ after, hidden }) => [text(after), text(hidden)],
    },
  },
  {
    name: 'order-one',
    shows: ['orderByRelated'],
    document: `query OrderOne($status: PostStatus!) {
      postsCollection(first: 30, filter: {status: {eq: $status}}, orderBy: [{author: {email: DescNullsLast}}]) {
        edges { node { id title } }
      }
    }`,
    variables: () => ({ status: 'published' }),
    hand: {
      name: 'order-one',
      text: pageOf(
        'postsCollection',
        'p.id, p.title',
        `select p.id, p.title from posts p join users u on u.id = p.author_id
         where p.status = $1::post_status order by u.email desc, p.id`,
      ),
      values: ({ status }) => [text(status)],
    },
  },
  {
    name: 'order-count',
    shows: ['orderByRelated'],
    document: `query OrderCount($author: Int!) {
      postsCollection(first: 30, filter: {authorId: {eq: $author}}, orderBy: [{commentsCollection: {count: DescNullsLast}}]) {
        edges { node { id title } }
      }
    }`,
    variables: (draw, { users }) => ({ author: draw(users) }),
    hand: {
      name: 'order-count',
      text: pageOf(
        'postsCollection',
        'p.id, p.title',
        `select p.id, p.title from posts p where p.author_id = $1::int
         order by (select count(*) from comments c where c.post_id = p.id) desc, p.id`,
      ),
      values: ({ author }) => [text(author)],
    },
  },
  {
    name: 'order-count-of-all',
    shows: ['orderByRelated'],
    document: `query OrderCountOfAll {
      postsCollection(first: 30, orderBy: [{commentsCollection: {count: DescNullsLast}}]) { edges { node { id title } } }
    }`,
    variables: () => ({}),
    hand: {
      name: 'order-count-of-all',
      text: pageOf(
        'postsCollection',
        'p.id, p.title',
        `select p.id, p.title from posts p
         left join (select post_id, count(*) as n from comments group by post_id) c on c.post_id = p.id
         order by coalesce(c.n, 0) desc, p.id`,
      ),
      values: () => [],
    },
  },
]
