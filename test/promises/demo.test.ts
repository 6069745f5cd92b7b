import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors } from '../support/whole.ts'

const demo = (file: string): string => readFileSync(new URL(`../../fixtures/demo/${file}`, import.meta.url), 'utf8')

/** The id of a user of the seed, as its first lines promise it. */
const user = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

const ada = { role: 'authenticated', sub: user(1) }
const visitor = { role: 'anon' }

/** Rows of one query under a caller's role and claims; whatever it changed is taken back. */
const as = async (db: TestDatabase, claims: { role: string; sub?: string }, sql: string): Promise<unknown[]> => {
  await db.queryAsLogin('begin')
  try {
    await db.queryAsLogin(`select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`, [
      claims.role,
      JSON.stringify(claims),
    ])
    return (await db.queryAsLogin(sql)).rows
  } finally {
    await db.queryAsLogin('rollback')
  }
}

describe.each(lawMajors())('the demo on PostgreSQL %i', (major) => {
  const db = forSuite(createDatabase, { major, prepare: true, sql: demo('schema.sql') + demo('seed.sql') })

  test.each([
    ['users', 200],
    ['categories', 16],
    ['tags', 40],
    ['posts', 1000],
    ['comments', 5000],
    ['bookmarks', 500],
  ])('has %s: %i', async (table, count) => {
    expect((await db.query(`select count(*)::int from public.${table}`)).rows).toEqual([{ count }])
  })

  test('gives new rows the ids after those of the seed', async () => {
    const sql = `insert into public.tags (slug, name) values ('new', 'new') returning id`
    expect(await as(db, { role: 'service_role' }, sql)).toEqual([{ id: 41 }])
  })

  test('has the same posts and comments on every major version', async () => {
    await db.query(`set timezone to 'UTC'`)
    const digest = (table: string): string =>
      `(select md5(string_agg(t::text, '' order by id)) from ${table} t) as ${table}`
    expect((await db.query(`select ${digest('posts')}, ${digest('comments')}`)).rows).toEqual([
      { posts: 'b06b9211362b4db2acb2112760f4ee7a', comments: '019823f3bc8ccfe9dba6a4b802bf6261' },
    ])
  })

  test('shows a visitor published posts and what hangs on them', async () => {
    expect(await as(db, visitor, 'select distinct status::text from posts')).toEqual([{ status: 'published' }])
    const hidden = `select count(*)::int from post_tags t where not exists (select from posts where id = t.post_id)`
    expect(await as(db, visitor, hidden)).toEqual([{ count: 0 }])
    const months = 'select sum(post_count)::int = (select count(*) from posts) as same from author_activity'
    expect(await as(db, visitor, months)).toEqual([{ same: true }])
  })

  test.each([
    ['an email', 'select email from users'],
    ['whole profiles', 'select full_name(u) from users u'],
    ['bookmarks', 'select from bookmarks'],
    ['the right to write', `update posts set title = 'mine'`],
    ['the right to publish', 'select publish_post(864)'],
  ])('refuses a visitor %s', async (_what, sql) => {
    await expect(as(db, visitor, sql)).rejects.toMatchObject({ code: '42501' })
  })

  test('shows a member the drafts that they write or edit, and their own bookmarks', async () => {
    const sql = `
      select count(*)::int, bool_and('${user(1)}' in (author_id, editor_id)) as own
      from posts where status <> 'published'`
    expect(await as(db, ada, sql)).toEqual([{ count: 8, own: true }])
    expect(await as(db, ada, 'select distinct user_id from bookmarks')).toEqual([{ user_id: user(1) }])
  })

  test('lets a member write in their own name', async () => {
    const sql = `insert into posts (slug, title, body) values ('new', 'New', 'One two three') returning *`
    expect(await as(db, ada, sql)).toMatchObject([{ id: 1001, author_id: user(1), status: 'draft', word_count: 3 }])
    const comment = `insert into comments (post_id, body) values (1, 'Yes.') returning id, author_id`
    expect(await as(db, ada, comment)).toMatchObject([{ author_id: user(1) }])
  })

  test.each([
    ['in another name', `insert into posts (slug, title, body, author_id) values ('n', 'New', 'x', '${user(2)}')`],
    ['under a draft that they cannot read', `insert into comments (post_id, body) values ($hidden, 'x')`],
    ['a rating', 'update posts set rating = 5'],
    ['themselves into the staff', 'update users set is_staff = true'],
    ['tags on the posts of others', 'insert into post_tags values ($hidden, 1)'],
  ])('refuses that a member writes %s', async (_what, sql) => {
    const hidden = `select min(id) as id from posts where status = 'draft' and author_id <> $1 and editor_id is null`
    const id = (await db.query(hidden, [user(1)])).rows[0].id as number
    await expect(as(db, ada, sql.replace('$hidden', String(id)))).rejects.toMatchObject({ code: '42501' })
  })

  test('changes nothing that belongs to others', async () => {
    const others = `where author_id <> '${user(1)}' returning id`
    expect(await as(db, ada, `update posts set title = 'x y z' ${others}`)).toEqual([])
    expect(await as(db, ada, `delete from comments ${others}`)).toEqual([])
    expect(await as(db, ada, 'update users set bio = null returning id')).toEqual([{ id: user(1) }])
  })

  test('publishes and stamps the draft of its author, and answers null to other callers', async () => {
    const sql = 'select p.status::text, p.published_at is not null as stamped from publish_post(864) p'
    expect(await as(db, ada, sql)).toEqual([{ status: 'published', stamped: true }])
    expect(await as(db, { ...ada, sub: user(2) }, 'select p.id from publish_post(864) p')).toEqual([{ id: null }])
  })

  test('answers a reply under the post that it replies to, and only there', async () => {
    const sql = `insert into comments (post_id, parent_id, body)
      select 1, min(id), 'x' from comments where post_id <> 1`
    await expect(as(db, ada, sql)).rejects.toMatchObject({ code: '23503' })
  })

  test('finds posts by the words in their titles, in any form', async () => {
    const found = await as(db, visitor, `select title from search_posts('compost heap -budget')`)
    expect(found.length).toBeGreaterThan(5)
    for (const row of found) expect(row).toMatchObject({ title: expect.stringMatching(/compost heaps(?!.*budget)/) })
  })

  test('still answers after posts gained and lost a column', async () => {
    await db.query('begin; alter table posts add column subtitle text; alter table posts drop column metadata')
    const { rows } = await db.query(`
      select (select count(*) from search_posts('rye')) > 0 as search,
        (select count(*) from posts p, related_posts(p) where p.id = 5) > 0 as related`)
    await db.query('rollback')
    expect(rows).toEqual([{ search: true, related: true }])
  })

  test('has an index for every foreign key', async () => {
    const sql = `
      select conname from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
      and not exists (
        select from pg_index where indrelid = conrelid
        and (string_to_array(indkey::text, ' ')::int2[])[1:cardinality(conkey)] = conkey
      )`
    expect((await db.query(sql)).rows).toEqual([])
  })
})
