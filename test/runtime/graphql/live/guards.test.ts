import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { openEvents, type EventClient } from '../../../support/event-client.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { JWT_SECRET, keys, whileServed, type ServedProject } from '../../../support/while-served.ts'

/** The guards of a query are those of a stream (spec/graphql.md 16.2, 6). */

const listed = '{ noteCollection(first: 1) { edges { node { body } } } }'

const db = forSuite(createDatabase, {
  prepare: true,
  isolated: true,
  sql: `
      comment on schema public is '@graphql({"live": {"enabled": true}, "limits": {"fields": 12, "rows": 29, "cost": 10000},
        "allowlist": {"table": "private.documents", "roles": ["authenticated"]}})';
      create table note (id int primary key, body text);
      create table slow (id int primary key);
      create function heavy(n slow) returns bigint language sql stable as
        'select count(*) from generate_series(1, 300000 * $1.id)';
      create schema private;
      create table private.documents (hash text primary key, document text not null);
      insert into private.documents
        select encode(sha256(document::bytea), 'hex'), document from unnest(array['query ${listed}', 'subscription ${listed}']) document;
      grant usage on schema public, private to anon, authenticated;
      grant select on all tables in schema public, private to anon, authenticated;
      grant insert on note to anon;
      insert into note values (1, 'first');
      insert into slow values (1), (1000);`,
})

const serving = (visit: (project: ServedProject) => Promise<void>, settings: Record<string, string> = {}) =>
  whileServed(db, settings, visit)

const bearer = (sub: string, role = 'authenticated'): string => `Bearer ${signToken({ role, sub }, JWT_SECRET)}`

const stream = ({ url }: ServedProject, body: object, headers: Record<string, string> = {}): Promise<EventClient> =>
  openEvents(`${url}/graphql/v1`, body, { apikey: keys.anon, ...headers })

/** The code that a query is refused with, and that of the same subscription by either transport. */
const refusals = async (project: ServedProject, selection: string, headers: Record<string, string> = {}) => {
  const asked = await project.graphql(`query ${selection}`, headers)
  const query = `subscription ${selection}`
  const events = await stream(project, { query }, headers)
  const said = events.type.startsWith('text/event-stream') ? (await events.next())?.data : await events.body()
  events.close()
  return [await asked.text(), said ?? '', await bySocket(project, query, headers)].map(codeIn)
}

const codeIn = (text: string): string | undefined => /"code":"(\w+)"/.exec(text)?.[1]

const bySocket = async (
  { url }: ServedProject,
  query: string,
  { authorization }: Record<string, string>,
): Promise<string> => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql/v1`, 'graphql-transport-ws')
  const heard = async (): Promise<string> => String((await once(socket, 'message'))[0])
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { apikey: keys.anon, authorization } }))
  await heard()
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
  const answer = await heard()
  socket.terminate()
  return answer
}

const thrice = (code: string) => [code, code, code]

describe('a stream', () => {
  it('is refused as its query by limits of fields, rows and cost', async () => {
    await serving(async (project) => {
      const wide = `{ noteCollection(first: 1) { edges { node { ${Array.from({ length: 12 }, (_, n) => `a${n}: id`).join(' ')} } } } }`
      expect(await refusals(project, wide)).toEqual(thrice('FIELD_LIMIT_EXCEEDED'))
      const long = '{ noteCollection(first: 30) { edges { node { id } } } }'
      expect(await refusals(project, long)).toEqual(thrice('ROW_LIMIT_EXCEEDED'))
      await db.query(`alter function heavy cost 10000000`)
      const dear = '{ slowCollection(first: 1) { edges { node { heavy } } } }'
      expect(await refusals(project, dear)).toEqual(thrice('COST_LIMIT_EXCEEDED'))
      await db.query(`alter function heavy cost 1`)
    })
  })

  it('is one of the listed documents, by text or hash, where its role may run no others', async () => {
    await serving(async (project) => {
      const headers = { authorization: bearer('ada') }
      const other = '{ noteCollection(first: 2) { edges { node { body } } } }'
      expect(await refusals(project, other, headers)).toEqual(thrice('DOCUMENT_NOT_LISTED'))
      const { rows } = await db.query(`select hash from private.documents where document like 'subscription%'`)
      const sha256Hash = (rows[0] as { hash: string }).hash
      for (const body of [{ query: `subscription ${listed}` }, { extensions: { persistedQuery: { sha256Hash } } }]) {
        const events = await stream(project, body, headers)
        expect((await events.next())?.data).toContain('"first"')
        await db.query(`update note set body = body || '!' where id = 1`)
        expect((await events.next())?.data).toContain('!')
        await db.query(`update note set body = 'first' where id = 1`)
        events.close()
      }
    })
  })

  it('is given up where a run takes longer than a request may', async () => {
    await serving(
      async (project) => {
        const selection = '{ slowCollection(first: 1, filter: {id: {eq: 1000}}) { edges { node { heavy } } } }'
        expect(await refusals(project, selection)).toEqual(thrice('DEADLINE_EXCEEDED'))
      },
      { REQUEST_TIMEOUT_MS: '400' },
    )
  })

  it('counts as a request, and so does each operation of a socket', async () => {
    await serving(
      async (project) => {
        const query = `subscription ${listed}`
        for (let number = 0; number < 3; number += 1) {
          const events = await stream(project, { query })
          expect((await events.next())?.event).toBe('next')
          events.close()
        }
        const refused = await stream(project, { query })
        expect([refused.status, codeIn(await refused.body())]).toEqual([429, 'RATE_LIMITED'])
        expect(codeIn(await bySocket(project, query, {}))).toBe('RATE_LIMITED')
      },
      { RATE_LIMIT: '3' },
    )
  })

  it('shares three places with other new and slow ones, and queries are answered', async () => {
    await serving(
      async (project) => {
        const query = 'subscription { slowCollection(first: 1, filter: {id: {eq: 1}}) { edges { node { heavy } } } }'
        let most = 0
        let isOver = false
        const look = async (): Promise<void> => {
          while (!isOver) {
            const { rows } = await overSessions(db).query(`select count(*)::int as n from pg_stat_activity
              where datname = current_database() and state = 'active' and query like '%heavy%' and pid <> pg_backend_pid()`)
            most = Math.max(most, (rows[0] as { n: number }).n)
            await pause(2)
          }
        }
        const looking = look()
        const opened = await Promise.all(
          Array.from({ length: 12 }, (_, number) =>
            stream(project, { query }, { authorization: bearer(`user ${number}`, 'anon') }),
          ),
        )
        for (const events of opened) {
          expect((await project.graphql(`query ${listed}`)).status).toBe(200)
          expect((await events.next())?.event).toBe('next')
        }
        isOver = true
        await looking
        expect(most).toBeLessThanOrEqual(3)
        for (const events of opened) events.close()
      },
      { DB_POOL_SIZE: '4' },
    )
  })
})
