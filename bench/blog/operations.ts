import type { BlogSize } from './data.ts'

/** One operation for the product and for the peer: the same rows, columns and page, as far as both allow it. */
export interface Operation {
  readonly name: 'key' | 'page' | 'nested' | 'insert' | 'thousand' | 'persisted'
  readonly document: string
  readonly variables: (draw: Draw, size: BlogSize) => Readonly<Record<string, unknown>>
  /** The document for PostGraphile; the variables are the same. */
  readonly peer: string
  /** A part of every right answer, of any server. */
  readonly answers: RegExp
}

/** A whole number from 1 to the limit. */
export type Draw = (limit: number) => number

/** The caller: sub of the token, and author of inserted rows. */
export const caller = 42

const published = (): Readonly<Record<string, unknown>> => ({ status: 'published' })

const pageOf = (rows: number): Omit<Operation, 'name'> => ({
  document: `query Page($status: PostStatus!) {
    postsCollection(first: ${rows}, filter: {status: {eq: $status}}, orderBy: [{createdAt: DescNullsLast}]) {
      edges { cursor node { id title status createdAt authorId } }
      pageInfo { hasNextPage hasPreviousPage }
    }
  }`,
  variables: published,
  peer: `query Page($status: PostStatus!) {
    allPosts(first: ${rows}, condition: {status: $status}, orderBy: [CREATED_AT_DESC, ROW_ID_ASC]) {
      edges { cursor node { rowId title status createdAt authorId } }
      pageInfo { hasNextPage hasPreviousPage }
    }
  }`,
  answers: /"title":"The title of post \d+"/,
})

const key: Operation = {
  name: 'key',
  document: 'query Key($id: Int!) { postsByPk(id: $id) { id title status createdAt authorId } }',
  // Neither a draft nor archived, which only their authors see.
  variables: (draw, { posts }) => ({ id: Math.ceil(draw(posts - 10) / 10) * 10 - 3 }),
  peer: 'query Key($id: Int!) { postByRowId(rowId: $id) { rowId title status createdAt authorId } }',
  answers: /"title":"The title of post \d+"/,
}

/** The same, requested from the product by the hash of its document, which is allow-listed. */
export const persisted: Operation = { ...key, name: 'persisted' }

export const operations: readonly Operation[] = [
  key,
  { name: 'page', ...pageOf(30) },
  {
    name: 'nested',
    document: `query Nested($status: PostStatus!) {
      postsCollection(first: 10, filter: {status: {eq: $status}}, orderBy: [{createdAt: DescNullsLast}]) {
        edges { node { id title author { id name }
          commentsCollection(first: 5) { edges { node { id body author { id name } } } } } }
      }
    }`,
    variables: published,
    peer: `query Nested($status: PostStatus!) {
        allPosts(first: 10, condition: {status: $status}, orderBy: [CREATED_AT_DESC, ROW_ID_ASC]) {
          edges { node { rowId title userByAuthorId { rowId name }
            commentsByPostId(first: 5) { edges { node { rowId body userByAuthorId { rowId name } } } } } }
        }
      }`,
    answers: /"name":"User \d+"/,
  },
  {
    name: 'insert',
    document: `mutation Insert($postId: Int!, $authorId: Int!, $body: String!) {
      insertIntoCommentsCollection(objects: [{postId: $postId, authorId: $authorId, body: $body}]) {
        affectedCount records { id body createdAt postId authorId }
      }
    }`,
    variables: (draw, { posts }) => ({
      postId: draw(posts),
      authorId: caller,
      body: `A comment, number ${draw(1e9)}.`,
    }),
    peer: `mutation Insert($postId: Int!, $authorId: Int!, $body: String!) {
        createComment(input: {comment: {postId: $postId, authorId: $authorId, body: $body}}) {
          comment { rowId body createdAt postId authorId }
        }
      }`,
    answers: /"body":"A comment, number \d+\."/,
  },
  { name: 'thousand', ...pageOf(1_000) },
]
