import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { forSuite } from '../../../support/for-suite.ts'
import { createGenerated } from '../../../support/generated-client.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table post (id int primary key, views int);
  comment on table post is '@graphql({"deprecated": "read notes */ instead"})';
  comment on column post.views is 'How often. @graphql({"deprecated": "count\\nthem"})';
  create table note (id int primary key, body text, author text, pin text, votes int);
  comment on table note is '@graphql({"readOnly": {"anon": ["votes"]}, "writeOnly": {"anon": ["pin"]},
    "preset": {"anon": {"author": "current_user"}}})';
  grant usage on schema public to anon;
  grant all on post, note to anon;
`

const app = forSuite(createGenerated, sql)

it('the generated client says what is deprecated, where editors find it', () => {
  const read = (path: string): string => readFileSync(join(app.folder, 'db', path), 'utf8')
  expect(read('rows.d.ts')).toContain('  /**\n   * How often.\n   * @deprecated count\\nthem\n   */\n  readonly views:')
  expect(read('tables/Post.d.ts')).toContain('   * @deprecated read notes *\\/ instead\n   */\n  readonly insert:')
})

it('the generated client takes and answers the columns that the role has for it', () => {
  const use = `void db.note.insert({ objects: [{ id: 1, body: 'a', pin: '1' }], select: { records: { author: true, votes: true } } })`
  expect(app.complaints([use])).toEqual([''])
})

it('the generated client does not take wrong uses', () => {
  const uses = [
    `void db.note.insert({ objects: [{ id: 1, author: 'eve' }], select: { affectedCount: true } })`,
    `void db.note.update({ set: { votes: 9 }, select: { affectedCount: true } })`,
    `void db.note.list({ select: { pin: true } })`,
    `void db.note.list({ filter: { pin: { eq: '1' } }, select: { id: true } })`,
  ]
  expect(app.complaints(uses)).toEqual(uses.map(() => expect.stringContaining('error TS')))
})
