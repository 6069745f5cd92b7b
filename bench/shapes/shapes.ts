/** Wide or deep documents, each with its variables, on the blog and the tables of schema.sql. */
export interface Shape {
  readonly name: string
  readonly document: string
  readonly variables: Readonly<Record<string, unknown>>
  /** Whether an index serves it: then no table of any size may be scanned sequentially. */
  readonly indexed: boolean
}

const node = '{ id title status createdAt authorId }'
const order = 'orderBy: [{createdAt: DescNullsLast}]'

const posts = (name: string, args: string, rest: Partial<Shape> = {}): Shape => ({
  name,
  document: `query { postsCollection(${args}) { edges { node ${node} } } }`,
  variables: {},
  indexed: true,
  ...rest,
})

const comments = (
  name: string,
  filter: string,
  variables: string,
  values: Shape['variables'],
  indexed: boolean,
): Shape => ({
  name: `filter: ${name}`,
  document: `query(${variables}) {
    commentsCollection(first: 30, filter: ${filter}) { edges { node { id body postId } } } }`,
  variables: values,
  indexed,
})

const cursor = (createdAt: string, id: number): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64')

const wideColumns = Array.from({ length: 59 }, (_, index) => `c${index + 1}`).join(' ')

const spokes = Array.from(
  { length: 10 },
  (_, index) => `spoke${index + 1}Collection(first: 5) { edges { node { id name } } }`,
).join(' ')

const chain = (level: number): string =>
  level === 6 ? 'id name' : `id name level${level + 1}Collection(first: 3) { edges { node { ${chain(level + 1)} } } }`

const aliases = Array.from(
  { length: 50 },
  (_, index) => `p${index}: postsCollection(first: 2, offset: ${index}, ${order}) { edges { node { id title } } }`,
).join(' ')

/** Far from both ends of the posts. */
const middle = { cursor: cursor('2024-06-22T12:00:00+00:00', 50_000) }

export const shapes: readonly Shape[] = [
  {
    name: 'ten relations side by side',
    document: `query { hubsCollection(first: 10) { edges { node { id name ${spokes} } } } }`,
    variables: {},
    indexed: true,
  },
  {
    name: 'six levels',
    document: `query { level1Collection(first: 3) { edges { node { ${chain(1)} } } } }`,
    variables: {},
    indexed: true,
  },
  {
    name: '60 columns, 30 rows',
    document: `query { wideCollection(first: 30) { edges { node { id ${wideColumns} } } } }`,
    variables: {},
    indexed: true,
  },
  { name: '50 aliases of a collection', document: `query { ${aliases} }`, variables: {}, indexed: true },
  {
    name: 'count of some rows',
    document: 'query($id: Int!) { commentsCollection(filter: {postId: {eq: $id}}) { totalCount } }',
    variables: { id: 77 },
    indexed: true,
  },
  {
    name: 'count of all rows',
    document: 'query { postsCollection { totalCount } }',
    variables: {},
    indexed: false,
  },
  {
    name: 'aggregates of some rows',
    document: `query($id: Int!) { commentsCollection(filter: {postId: {eq: $id}}) {
      aggregate { count min { id createdAt } max { id createdAt } avg { id } sum { id } } } }`,
    variables: { id: 77 },
    indexed: true,
  },
  posts('order by a column that is never null', `first: 30, ${order}`),
  posts('order by a column with nulls, nulls last', 'first: 30, orderBy: [{featuredAt: DescNullsLast}]'),
  posts('order by a column with nulls, nulls first', 'first: 30, orderBy: [{featuredAt: DescNullsFirst}]'),
  posts('forward page deep in the table', `first: 30, after: "${middle.cursor}", ${order}`),
  posts('backward page deep in the table', `last: 30, before: "${middle.cursor}", ${order}`),
  posts('last page', `last: 30, ${order}`),
  posts('offset deep in the table', `first: 30, offset: 5000, ${order}`),
  comments('eq', '{postId: {eq: $v}}', '$v: Int!', { v: 77 }, true),
  comments('in', '{postId: {in: $v}}', '$v: [Int!]!', { v: [7, 77, 777] }, true),
  comments('range', '{id: {gt: $v, lte: $w}}', '$v: Int!, $w: Int!', { v: 5_000, w: 5_020 }, true),
  comments('startsWith', '{body: {startsWith: $v}}', '$v: String!', { v: 'What comment 77 ' }, false),
  comments('like', '{body: {like: $v}}', '$v: String!', { v: 'What comment 77 %' }, false),
  comments('ilike', '{body: {ilike: $v}}', '$v: String!', { v: '%COMMENT 777 %' }, false),
  comments('regex', '{body: {regex: $v}}', '$v: String!', { v: 'comment 77+ ' }, false),
  comments('neq', '{postId: {neq: $v}}', '$v: Int!', { v: 77 }, true),

  comments(
    'and, or, not',
    '{or: [{postId: {eq: $v}}, {and: [{authorId: {eq: $w}}, {not: {hidden: {eq: true}}}]}]}',
    '$v: Int!, $w: Int!',
    { v: 77, w: 42 },
    true,
  ),
]
