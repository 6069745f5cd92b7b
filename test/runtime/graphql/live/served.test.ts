import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { openEvents, type EventClient } from '../../../support/event-client.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { JWT_SECRET, keys, whileServed, type ServedProject } from '../../../support/while-served.ts'

/** The service as `serve` makes it: comments, triggers, the feed of changes and streams together (spec/graphql.md 16). */

const db = forSuite(createDatabase, {
  prepare: true,
  isolated: true,
  sql: `
      comment on schema public is '@graphql({"inflect_names": true, "live": {"enabled": true}})';
      create table public.members (account text primary key);
      create table public.posts (id int primary key, owner text not null, title text);
      create table public.comments (id int primary key, post_id int references public.posts (id) on delete cascade, body text);
      create table public.dull (id int primary key);
      comment on table public.dull is '@graphql({"live": {"enabled": false}})';
      alter table public.posts enable row level security;
      create policy seen on public.posts using (
        exists (select from public.members m where m.account = current_setting('request.jwt.claims', true)::json ->> 'sub'));
      grant usage on schema public to anon, authenticated;
      grant select, insert, update, delete on all tables in schema public to anon, authenticated;
      insert into public.members values ('ada');
      insert into public.posts values (1, 'ada', 'one'), (2, 'ada', 'two');`,
})

const serving = (visit: (project: ServedProject) => Promise<void>, settings: Record<string, string> = {}) =>
  whileServed(db, settings, visit)
const bearer = (sub: string): string => `Bearer ${signToken({ role: 'authenticated', sub }, JWT_SECRET)}`
const open = ({ url }: ServedProject, query: string, variables = {}, sub = 'ada'): Promise<EventClient> =>
  openEvents(`${url}/graphql/v1`, { query, variables }, { apikey: keys.anon, authorization: bearer(sub) })
const dataOf = async (stream: EventClient): Promise<any> => JSON.parse((await stream.next())?.data ?? '{}').data

const titles = 'subscription { postsCollection(orderBy: [{id: AscNullsLast}]) { edges { node { title } } } }'
const nodesOf = (data: any): readonly string[] => data.postsCollection.edges.map((edge: any) => edge.node.title)

describe('a service with live tables', () => {
  it('reports the commits of all sessions, cascades and policies included', async () => {
    await serving(async (project) => {
      const posts = await open(project, titles)
      const nested = await open(
        project,
        'subscription ($id: Int!) { postsByPk(id: $id) { title commentsCollection { edges { node { body } } } } }',
        { id: 2 },
      )
      expect(nodesOf(await dataOf(posts))).toEqual(['one', 'two'])
      await dataOf(nested)
      await db.query(`update posts set title = 'uno' where id = 1`)
      expect(nodesOf(await dataOf(posts))).toEqual(['uno', 'two'])
      await db.query(`insert into comments values (1, 2, 'first')`)
      expect((await dataOf(nested)).postsByPk.commentsCollection.edges).toHaveLength(1)
      expect(nested.waiting()).toBe(0)
      await db.query('begin')
      await db.query(`insert into posts values (3, 'ada', 'three')`)
      await pause(100)
      expect(posts.waiting()).toBe(0)
      await db.query('commit')
      expect(nodesOf(await dataOf(posts))).toEqual(['uno', 'two', 'three'])
      await db.query(`delete from posts where id = 2`)
      expect(nodesOf(await dataOf(posts))).toEqual(['uno', 'three'])
      expect((await dataOf(nested)).postsByPk).toBeNull()
      await db.query(`delete from members`)
      expect(nodesOf(await dataOf(posts))).toEqual([])
      await db.query(`insert into members values ('ada')`)
      expect(nodesOf(await dataOf(posts))).toEqual(['uno', 'three'])
      posts.close()
      nested.close()
    })
  })

  it('re-reads documents when the schema changes, and ends those that are refused by it', async () => {
    await serving(async (project) => {
      const stays = await open(project, titles)
      const ends = await open(project, 'subscription { postsCollection { edges { node { owner } } } }')
      await stays.next()
      await ends.next()
      await db.query('revoke select on posts from authenticated; grant select (id, title) on posts to authenticated')
      const last = JSON.parse((await ends.next())?.data ?? '')
      expect(last.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
      expect((await ends.next())?.event).toBe('complete')
      await db.query(`update posts set title = 'eins' where id = 1`)
      expect(nodesOf(await dataOf(stays))).toContain('eins')
      await db.query('grant select on posts to authenticated')
      stays.close()
    })
  })

  it('hears of what a document reads since the schema changed', async () => {
    await serving(async (project) => {
      const stream = await open(project, titles)
      const before = nodesOf(await dataOf(stream))
      expect(before).not.toEqual([])
      const seen = 'exists (select from public.comments c where c.post_id = posts.id)'
      await db.query(`delete from comments; alter policy seen on posts using (${seen})`)
      expect(nodesOf(await dataOf(stream))).toEqual([])
      await db.query(`insert into comments values (7, 1, 'now it is seen')`)
      expect(nodesOf(await dataOf(stream))).toEqual(before.slice(0, 1))
      stream.close()
      await db.query('alter policy seen on posts using (true)')
    })
  })

  it('gives a table its triggers once a long transaction lets it', { timeout: 90_000 }, async () => {
    const dulls = 'subscription { dullCollection { edges { node { id } } } }'
    const writer = new pg.Client(db.ownerUrl).on('error', () => undefined)
    await writer.connect()
    await serving(async (project) => {
      await writer.query('begin; insert into dull values (1)')
      await db.query(`comment on table dull is '@graphql({"live": {"enabled": true}})'`)
      const refused = await open(project, dulls)
      expect(refused.status).toBe(503)
      expect(JSON.parse(await refused.body()).errors).toMatchObject([
        {
          message: 'table public.dull is not live yet: others hold locks on it. Try again.',
          extensions: { code: 'DATABASE_UNAVAILABLE' },
        },
      ])
      await writer.query('commit')
      const status = async (): Promise<number> => {
        const stream = await open(project, dulls)
        stream.close()
        return stream.status
      }
      await expect.poll(status, { timeout: 60_000 }).toBe(200)
    })
    await writer.end()
    await db.query(`comment on table dull is '@graphql({"live": {"enabled": false}})'`)
  })

  it('refuses by name what is not live', async () => {
    await serving(async (project) => {
      const refused = await open(project, 'subscription { dullCollection { edges { node { id } } } }')
      expect(refused.status).toBe(400)
      const plain = await open(project, '{ dullCollection { edges { node { id } } } }')
      expect((await plain.next())?.event).toBe('next')
    })
  })

  it('reports changes by WebSocket as well, and by a mutation of the same client', async () => {
    await serving(async (project) => {
      const client = createClient({
        url: `${project.url.replace('http', 'ws')}/graphql/v1`,
        webSocketImpl: WebSocket,
        connectionParams: { apikey: keys.anon, authorization: bearer('ada') },
      })
      const results = client.iterate<any>({ query: titles })
      await results.next()
      const mutation = client.iterate<any>({
        query: `mutation { updatePostsCollection(set: {title: "neu"}, filter: {id: {eq: 1}}) { affectedCount } }`,
      })
      expect((await mutation.next()).value?.data.updatePostsCollection.affectedCount).toBe(1)
      expect(nodesOf((await results.next()).value?.data)).toContain('neu')
      await client.dispose()
    })
  })

  it('goes on when its connections were ended', async () => {
    await serving(async (project) => {
      const stream = await open(project, titles)
      await stream.next()
      await overSessions(db).query(`select pg_terminate_backend(pid) from pg_stat_activity
        where usename = 'authenticator' and datname = current_database()`)
      await db.query(`update posts set title = 'survived' where id = 1`)
      let data = await dataOf(stream)
      while (!nodesOf(data).includes('survived')) data = await dataOf(stream)
      stream.close()
    })
  })

  it('asks nothing for streams while nothing changes, and counts what it does', async () => {
    await serving(
      async (project) => {
        const many = await Promise.all(Array.from({ length: 50 }, (_, id) => open(project, `${titles} # ${id % 5}`)))
        for (const stream of many) await stream.next()
        const metrics = async (): Promise<string> =>
          (await fetch(`${project.url}/metrics`, { headers: { authorization: `Bearer ${keys.serviceRole}` } })).text()
        const runsOf = (text: string): number =>
          [...text.matchAll(/^catalograph_live_runs_total\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
        const before = await metrics()
        expect(before).toContain('catalograph_live_streams 50')
        expect(before).toContain('catalograph_live_watches 5')
        await pause(500)
        expect(runsOf(await metrics())).toBe(runsOf(before))
        const updates = Array.from({ length: 100 }, (_, n) => `update posts set title = 'counted ${n}' where id = 1`)
        await db.query(`begin; ${updates.join('; ')}; commit`)
        for (const stream of many) await stream.next()
        const after = await metrics()
        expect(runsOf(after)).toBe(runsOf(before) + 5)
        expect(after).toContain('catalograph_live_runs_total{reason="change",result="changed"} 5')
        expect(after).toContain('catalograph_live_lag_seconds_count 5')
        for (const stream of many) stream.close()
      },
      { METRICS: 'on' },
    )
  })

  it('closes sockets when it stops, so that clients come again', async () => {
    let socket: WebSocket | null = null
    await serving(async ({ url }) => {
      socket = new WebSocket(`${url.replace('http', 'ws')}/graphql/v1`, 'graphql-transport-ws')
      await once(socket, 'open')
      void once(socket, 'close').then(([code]) => expect(code).toBe(1001))
    })
    while ((socket as WebSocket | null)?.readyState !== WebSocket.CLOSED) await pause(5)
  })

  it('notices that a role lost a membership', async () => {
    await db.query('alter role authenticated inherit; create role readers; grant select on posts, members to readers')
    await db.query('grant readers to authenticated; revoke select on posts from authenticated')
    await serving(async (project) => {
      const stream = await open(project, titles)
      expect((await stream.next())?.event).toBe('next')
      await db.query('revoke readers from authenticated')
      const last = JSON.parse((await stream.next())?.data ?? '')
      expect(last.errors).toHaveLength(1)
      expect((await stream.next())?.event).toBe('complete')
    })
  })
})
