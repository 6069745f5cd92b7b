import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAuthServer, type AuthServer } from '../support/auth.ts'

let server: AuthServer
beforeAll(async () => {
  server = await startAuthServer({
    settings: { autoconfirm: 'on' },
    sql: `
      comment on schema public is '@graphql({"inflect_names": true})';
      create table public.posts (
        id int generated always as identity primary key,
        author_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
        title text not null
      );
      alter table public.posts enable row level security;
      create policy own on public.posts to authenticated
        using (author_id = (select auth.uid())) with check (author_id = (select auth.uid()));
      grant usage on schema public to anon, authenticated;
      grant select, insert on public.posts to authenticated;
      grant select on public.posts to anon;`,
  })
})
afterAll(() => server?.stop())

const graphql = async (token: string, query: string): Promise<any> => {
  const response = await fetch(`${server.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: server.anon, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return response.json()
}

const titles = '{ postsCollection { edges { node { title authorId } } } }'

it('whoever signs up with supabase-js writes a post through GraphQL and reads it back, and nobody else does', async () => {
  const client = server.client()
  const { data, error } = await client.auth.signUp({
    email: 'Writer@example.com',
    password: 'correct horse',
    options: { data: { name: 'Writer' } },
  })
  expect(error).toBeNull()
  const token = data.session?.access_token ?? ''
  const inserted = await graphql(
    token,
    'mutation { insertIntoPostsCollection(objects: [{title: "Mine"}]) { affectedCount } }',
  )
  expect(inserted).toEqual({ data: { insertIntoPostsCollection: { affectedCount: 1 } } })
  expect(await graphql(token, titles)).toEqual({
    data: { postsCollection: { edges: [{ node: { title: 'Mine', authorId: data.user?.id } }] } },
  })

  const other = await server.client().auth.signUp({ email: 'reader@example.com', password: 'another horse' })
  for (const stranger of [other.data.session?.access_token ?? '', server.anon]) {
    expect(await graphql(stranger, titles)).toEqual({ data: { postsCollection: { edges: [] } } })
  }
  const signedIn = await client.auth.signInWithPassword({ email: 'writer@example.com', password: 'correct horse' })
  expect(signedIn.data.user?.user_metadata).toMatchObject({
    name: 'Writer',
    email: 'writer@example.com',
    email_verified: true,
  })
  const refreshed = await client.auth.refreshSession()
  expect(refreshed.error).toBeNull()
  expect(await graphql(refreshed.data.session?.access_token ?? '', titles)).toMatchObject({
    data: { postsCollection: { edges: [{ node: { title: 'Mine' } }] } },
  })
})
