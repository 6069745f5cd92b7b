import { expect, it } from 'vitest'
import { startAuthServer } from '../support/auth.ts'
import { forSuite } from '../support/for-suite.ts'
import { postsOf, postsSql } from '../support/posts.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' }, sql: postsSql })

it('fact 6: a person who signs up with supabase-js writes a post through GraphQL and reads it back, and nobody else does', async () => {
  const [client, { write, read }] = [server.client(), postsOf(server)]
  const { data, error } = await client.auth.signUp({
    email: 'Writer@example.com',
    password: 'correct horse',
    options: { data: { name: 'Writer' } },
  })
  expect(error).toBeNull()
  const token = data.session?.access_token ?? ''
  expect(await write(token, { title: 'Mine' })).toBe(1)
  expect(await read(token)).toEqual(['Mine'])
  const { rows } = await server.db.query('select author_id from public.posts')
  expect(rows).toEqual([{ author_id: data.user?.id }])

  const other = await server.client().auth.signUp({ email: 'reader@example.com', password: 'another horse' })
  for (const stranger of [other.data.session?.access_token ?? '', server.anon]) expect(await read(stranger)).toEqual([])
  const signedIn = await client.auth.signInWithPassword({ email: 'writer@example.com', password: 'correct horse' })
  expect(signedIn.data.user?.user_metadata).toMatchObject({
    name: 'Writer',
    email: 'writer@example.com',
    email_verified: true,
  })
  const refreshed = await client.auth.refreshSession()
  expect(refreshed.error).toBeNull()
  expect(await read(refreshed.data.session?.access_token ?? '')).toEqual(['Mine'])
})
