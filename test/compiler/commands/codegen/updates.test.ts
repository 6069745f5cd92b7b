import { expect, it } from 'vitest'
import { forSuite } from '../../../support/for-suite.ts'
import { createGenerated } from '../../../support/generated-client.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "updates": {"enabled": true}})';
  create table post (
    id int primary key, slug text not null unique, views bigint not null, tags text[], body jsonb);
  create table plain (id int primary key, n int);
  comment on table plain is '@graphql({"updates": {"enabled": false}})';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

const app = forSuite(createGenerated, sql)

it('the generated client has a method for each key and for many rows, typed as the fields are', () => {
  const use = [
    `const one = await db.post.updateByPk({ id: 1, increment: { views: '1' }, select: { id: true, views: true } })`,
    'if (one.error === null) { const row: { readonly id: number; readonly views: string } | null = one.data; void row }',
    `void db.post.updateBySlug({ slug: 'a', append: { tags: ['x', null] }, select: { slug: true } })`,
    `void db.post.updateByPk({ id: 1, setKey: { body: [{ at: ['a'], value: '1' }] }, select: { id: true } })`,
    `void db.post.deleteBySlug({ slug: 'a', select: { id: true } })`,
    `void db.post.updateRows({ rows: [{ id: 1, set: { slug: 'b' } }], atMost: 1, select: { records: { id: true } } })`,
    `void db.plain.update({ set: { n: 1 }, select: { affectedCount: true } })`,
  ]
  expect(app.complaints([use.join('\n')])).toEqual([''])
})

it('the generated client does not take wrong uses', () => {
  const uses = [
    `void db.post.updateByPk({ increment: { views: '1' }, select: { id: true } })`,
    `void db.post.updateByPk({ id: 1, increment: { slug: 'x' }, select: { id: true } })`,
    `void db.post.updateRows({ rows: [{ id: 1 }], select: { affectedCount: true } })`,
    `void db.post.updateByPk({ id: 1, setKey: { body: [{ at: ['a'] }] }, select: { id: true } })`,
    `void db.plain.updateByPk({ id: 1, set: { n: 1 }, select: { id: true } })`,
  ]
  expect(app.complaints(uses)).toEqual(uses.map(() => expect.stringContaining('error TS')))
})
