import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@catalograph/client'
import { createDb } from '../src/db/db.js'

// Run by `npm test`, which starts a database for it that is gone at the end.

const { PROJECT_URL, ANON_KEY } = process.env

/** A user with an account of its own, and the typed client as this user. */
async function signUp(t, name) {
  const client = createClient(PROJECT_URL, ANON_KEY)
  t.after(() => client.close())
  const { error } = await client.auth.signUp({ email: `${name}@example.com`, password: 'correct horse' })
  assert.equal(error, null)
  return { client, db: createDb(client) }
}

const select = { id: true, title: true }

test('users see and write their own rows, and no others', async (t) => {
  const [ada, bob] = [await signUp(t, 'ada'), await signUp(t, 'bob')]
  const inserted = await ada.db.todo.insert({ objects: [{ title: "Ada's" }], select: { records: select } })
  assert.equal(inserted.error, null)
  const [own] = inserted.data.records

  const seen = await bob.db.todo.list({ first: 10, select })
  assert.deepEqual(seen.data, [])
  const filter = { id: { eq: own.id } }
  const updated = await bob.db.todo.update({ set: { title: 'mine now' }, filter, select: { affectedCount: true } })
  assert.deepEqual(updated.data, { affectedCount: 0 })
  const deleted = await bob.db.todo.delete({ filter, select: { affectedCount: true } })
  assert.deepEqual(deleted.data, { affectedCount: 0 })

  const after = await ada.db.todo.list({ first: 10, select })
  assert.deepEqual(after.data, [{ id: own.id, title: "Ada's" }])
})

test('rows cannot be given to others: the column has no grant', async (t) => {
  const { client } = await signUp(t, 'carl')
  const document =
    'mutation { insertIntoTodoCollection(objects: [{ title: "x", owner: "00000000-0000-4000-8000-000000000000" }]) { affectedCount } }'
  const { error } = await client.graphql(document)
  assert.equal(error.code, 'GRAPHQL_VALIDATION_FAILED')
})

test('without a user there is nothing', async (t) => {
  const client = createClient(PROJECT_URL, ANON_KEY)
  t.after(() => client.close())
  const { error } = await client.graphql('{ todoCollection { edges { node { title } } } }')
  assert.equal(error.code, 'GRAPHQL_VALIDATION_FAILED')
})
