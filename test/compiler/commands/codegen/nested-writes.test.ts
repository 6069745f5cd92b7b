import { expect, it } from 'vitest'
import { forSuite } from '../../../support/for-suite.ts'
import { createGenerated } from '../../../support/generated-client.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "nestedWrites": {"enabled": true}, "updates": {"enabled": true}, "upsert": {"enabled": true}})';
  create table author (id int generated always as identity primary key, email text not null unique);
  create table post (id int generated always as identity primary key, author_id int not null references author, title text not null);
  create table plain (id int primary key, post_id int not null references post);
  comment on table plain is '@graphql({"nestedWrites": {"enabled": false}})';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

const insert = (object: string, table = 'post'): string =>
  `db.${table}.insert({ objects: [${object}], select: { records: { id: true } } })`
const change = (related: string): string => `db.post.updateByPk({ id: 1, related: ${related}, select: { id: true } })`

const taken: readonly string[] = [
  insert(`{ title: 'A', author: { insert: { email: 'a' } }, plainCollection: { insert: [{ id: 1 }] } }`),
  insert(`{ title: 'A', author: { connect: { email: 'a' } } }`),
  insert(
    `{ title: 'A', author: { insert: { email: 'a' }, onConflict: { constraint: 'author_email_key', updateFields: ['email'] } } }`,
  ),
  insert(`{ title: 'A', authorId: 1 }`),
  // Its key may be filled in by what it is part of.
  insert(`{ id: 1 }`, 'plain'),
  change(`{ author: { update: { email: 'b' } },
    plainCollection: { connect: [{ id: 1 }], update: [{ id: 2, set: { postId: 1 } }], delete: [{ id: 3 }], insert: [{ id: 4 }] } }`),
]

const refused: readonly string[] = [
  insert(`{ author: { insert: { email: 'a' } } }`),
  insert(`{ title: 'A', author: { insert: {} } }`),
  insert(`{ title: 'A', author: { insert: { email: 'a', plainCollection: { insert: [] } } } }`),
  insert(`{ title: 'A', author: { connect: { name: 'a' } } }`),
  insert(`{ title: 'A', author: { upsert: { email: 'a' } } }`),
  // It is off there.
  insert(`{ id: 1, post: { insert: { title: 'A' } } }`, 'plain'),
  // The key's column may not be null.
  change(`{ author: { disconnect: true } }`),
  change(`{ plainCollection: { update: [{ set: {} }] } }`),
]

const app = forSuite(createGenerated, sql)

it('the generated client takes right uses alone', () => {
  const complaints = app.complaints([...taken, ...refused].map((use) => `void ${use}`))
  expect(complaints).toEqual([...taken.map(() => ''), ...refused.map(() => expect.stringContaining('error TS'))])
})
