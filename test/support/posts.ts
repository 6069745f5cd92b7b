import type { AuthServer } from './auth.ts'
import { postGraphql } from './post-graphql.ts'

/** The data of an application: each user's own posts, and some that require a second factor. */
export const postsSql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table public.posts (
    id int generated always as identity primary key,
    author_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
    title text not null,
    secret boolean not null default false
  );
  alter table public.posts enable row level security;
  create policy own on public.posts to authenticated
    using (author_id = (select auth.uid()) and (not secret or (select auth.jwt() ->> 'aal') = 'aal2'));
  grant usage on schema public to anon, authenticated;
  grant select, insert on public.posts to authenticated;
  grant select on public.posts to anon;`

export interface Posts {
  /** How many rows that inserted. */
  readonly write: (token: string, post: { readonly title: string; readonly secret?: boolean }) => Promise<number>
  /** The titles that this caller sees, in order. */
  readonly read: (token: string) => Promise<readonly string[]>
}

export function postsOf({ url, anon }: Pick<AuthServer, 'url' | 'anon'>): Posts {
  // Answers of any shape
  const ask = async (token: string, query: string, variables: object): Promise<any> => {
    const response = await postGraphql({ url, anon }, { query, variables }, { authorization: `Bearer ${token}` })
    const { data, errors } = (await response.json()) as { data: unknown; errors?: readonly unknown[] }
    if (errors !== undefined) throw new Error(JSON.stringify(errors))
    return data
  }
  const insert =
    'mutation ($objects: [PostsInsertInput!]!) { insertIntoPostsCollection(objects: $objects) { affectedCount } }'
  const titles = '{ postsCollection(orderBy: [{id: AscNullsLast}]) { edges { node { title } } } }'
  return {
    write: async (token, post) =>
      (await ask(token, insert, { objects: [post] })).insertIntoPostsCollection.affectedCount,
    read: async (token) =>
      (await ask(token, titles, {})).postsCollection.edges.map(({ node }: { node: { title: string } }) => node.title),
  }
}
