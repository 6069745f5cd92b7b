import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDatabase, type Major, type TestDatabase } from '../../test/support/database.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { projectFolder } from '../support/record.ts'
import { persisted } from './operations.ts'

/** How many rows there are; every tenth post is a draft and every hundredth comment hidden. */
export interface BlogSize {
  readonly users: number
  readonly posts: number
  readonly comments: number
}

export const blogSize = (scale: number): BlogSize => ({
  users: Math.ceil(10_000 * scale),
  posts: Math.ceil(100_000 * scale),
  comments: Math.ceil(1_000_000 * scale),
})

const fill = ({ users, posts, comments }: BlogSize): string => `
  insert into users (id, name, email, bio, created_at)
  select n, 'User ' || n, 'user' || n || '@example.com', repeat('Something about user ' || n || '. ', 3),
    '2024-01-01'::timestamptz + n * interval '1 hour'
  from generate_series(1, ${users}) n;

  insert into posts (id, author_id, title, body, status, created_at, featured_at)
  select n, 1 + n * 7919 % ${users}, 'The title of post ' || n, repeat('A sentence of post ' || n || '. ', 10),
    case when n % 10 = 0 then 'draft' when n % 10 = 1 then 'archived' else 'published' end::post_status,
    '2024-01-01'::timestamptz + (n * 7907 % ${posts}) * interval '5 minutes',
    case when n % 4 = 0 then '2024-06-01'::timestamptz + (n * 7907 % ${posts}) * interval '5 minutes' end
  from generate_series(1, ${posts}) n;

  insert into comments (id, post_id, author_id, body, hidden, created_at)
  select n, 1 + n * 7901::bigint % ${posts}, 1 + n * 7919::bigint % ${users}, 'What comment ' || n || ' has to say.',
    n % 100 = 0, '2024-02-01'::timestamptz + n * interval '30 seconds'
  from generate_series(1, ${comments}) n;

  alter table comments alter id restart ${comments + 1};
`

const script = (name: string): Promise<string> => readFile(join(projectFolder, 'bench', name), 'utf8')

export const blogSchema = (): Promise<string> => script('blog/schema.sql')

/** A database with the blog in it, prepared for the product. */
export const createBlog = async (major: Major, size: BlogSize): Promise<TestDatabase> => {
  const db = await createDatabase({ major, prepare: true, sql: await blogSchema() })
  await fillBlog(db, size)
  return db
}

/** Foreign keys are not checked row by row in between. */
export const fillBlog = async (db: Pick<TestDatabase, 'query' | 'superuser'>, size: BlogSize): Promise<void> => {
  const superuser = db.superuser('fills tables with foreign keys at rest')
  await superuser.query('set session_replication_role = replica')
  await superuser.query(fill(size))
  await superuser.query('set session_replication_role = origin')
  await db.query('insert into private.documents values ($1, $2)', [sha256Hex(persisted.document), persisted.document])
  await db.query(await script('blog/indexes.sql'))
  await db.query('vacuum analyze')
}

/** The maximum number of rows of a table of values. */
export const allValues = 100_000

/** Rows of one table refer to the first thousand of another. */
const leastValues = 1_000

/** Adds the values whose filters additions bring, at most so many to a table, and rows that they change. */
export const addValues = async (db: TestDatabase, most: number): Promise<void> => {
  const few = (sql: string): string =>
    sql.replaceAll(/(?<=generate_series\(1, )\d{4,}/g, (rows) =>
      String(Math.min(Number(rows), Math.max(most, leastValues))),
    )
  await db.query(few(await script('blog/values.sql')))
  await db.query(await script('blog/writes.sql'))
  await db.query('vacuum analyze')
}

/** Adds the tables of the wide and deep shapes. */
export const addShapes = async (db: TestDatabase): Promise<void> => {
  await db.query(await script('shapes/schema.sql'))
  await db.query('vacuum analyze')
}
