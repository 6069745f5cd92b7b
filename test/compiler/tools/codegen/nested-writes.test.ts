import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGenerated, type GeneratedApplication } from '../../../support/generated-client.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "nestedWrites": {"enabled": true}, "updates": {"enabled": true}, "upsert": {"enabled": true}})';
  create table author (id int generated always as identity primary key, email text not null unique);
  create table post (id int generated always as identity primary key, author_id int not null references author, title text not null);
  create table plain (id int primary key, post_id int not null references post);
  comment on table plain is '@graphql({"nestedWrites": {"enabled": false}})';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

let app: GeneratedApplication
beforeAll(async () => {
  app = await createGenerated(sql)
})
afterAll(() => app?.end())

const complaints = (objects: string, table = 'post'): string => {
  const lines = [
    `import { createClient } from '@catalograph/client'`,
    `import { createDb } from './db/db.js'`,
    `const db = createDb(createClient('https://project.example.com', 'key'))`,
    `void db.${table}.insert({ objects: [${objects}], select: { records: { id: true } } })`,
  ]
  app.write('use.ts', lines.join('\n'))
  return app.typeCheck(['use.ts'])
}

it.each([
  `{ title: 'A', author: { insert: { email: 'a' } }, plainCollection: { insert: [{ id: 1 }] } }`,
  `{ title: 'A', author: { connect: { email: 'a' } } }`,
  `{ title: 'A', author: { insert: { email: 'a' }, onConflict: { constraint: 'author_email_key', updateFields: ['email'] } } }`,
  `{ title: 'A', authorId: 1 }`,
])('takes %s', (object) => {
  expect(complaints(object)).toBe('')
})

it.each([
  `{ author: { insert: { email: 'a' } } }`,
  `{ title: 'A', author: { insert: {} } }`,
  `{ title: 'A', author: { insert: { email: 'a', plainCollection: { insert: [] } } } }`,
  `{ title: 'A', author: { connect: { name: 'a' } } }`,
  `{ title: 'A', author: { upsert: { email: 'a' } } }`,
])('does not take %s', (object) => {
  expect(complaints(object)).toMatch(/error TS/)
})

it('takes no related rows where it is off, whose key another table may still fill in', () => {
  expect(complaints(`{ id: 1 }`, 'plain')).toBe('')
  expect(complaints(`{ id: 1, post: { insert: { title: 'A' } } }`, 'plain')).toMatch(/error TS/)
})

const changing = (related: string): string => {
  const lines = [
    `import { createClient } from '@catalograph/client'`,
    `import { createDb } from './db/db.js'`,
    `const db = createDb(createClient('https://project.example.com', 'key'))`,
    `void db.post.updateByPk({ id: 1, related: ${related}, select: { id: true } })`,
  ]
  app.write('use.ts', lines.join('\n'))
  return app.typeCheck(['use.ts'])
}

it('takes related rows in updates by key, as their columns allow', () => {
  expect(
    changing(`{
      author: { update: { email: 'b' } },
      plainCollection: { connect: [{ id: 1 }], update: [{ id: 2, set: { postId: 1 } }], delete: [{ id: 3 }], insert: [{ id: 4 }] },
    }`),
  ).toBe('')
  // The key's column may not be null.
  expect(changing(`{ author: { disconnect: true } }`)).toMatch(/error TS/)
  expect(changing(`{ plainCollection: { update: [{ set: {} }] } }`)).toMatch(/error TS/)
})
