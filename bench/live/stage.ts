import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { createDatabase, type TestDatabase } from '../../test/support/database.ts'
import { accessAs, createAccess, startProduct, type Access } from '../serve/subjects.ts'
import { httpRequest, sendOnce } from '../support/http-client.ts'
import { startPostgres } from '../support/postgres.ts'
import type { Major } from '../../test/support/clusters.ts'

/** The product with a live table of boards, and a table for queries without watches. */
export interface Stage {
  readonly db: TestDatabase
  readonly port: number
  /** Of the service, and of Postgres with all its backends. */
  readonly pids: { readonly service: number; readonly postgres: number }
  /** The request for the value of one board, by a user or by the owner. */
  readonly request: (board: number, who: string | 'owner', form: 'stream' | 'query') => Promise<Buffer>
  readonly honest: () => Buffer
  /** Runs of watches since the start. */
  readonly runs: () => Promise<number>
  /** Committed transactions in the database since the start, including the service's own reads. */
  readonly transactions: () => Promise<number>
  readonly close: () => Promise<void>
}

export const boards = 10_000

const sql = `
  create table boards (id int primary key, value bigint not null default 0);
  comment on table boards is '@graphql({"live": {"enabled": true}})';
  insert into boards select n from generate_series(1, ${boards}) n;
  create table notes (id int primary key, title text);
  insert into notes select n, 'note ' || n from generate_series(1, 1000) n;
  grant usage on schema public to anon, authenticated, service_role;
  grant select on boards, notes to anon, authenticated, service_role;`

const selection = 'Board($id: Int!) { boardsCollection(filter: {id: {eq: $id}}) { edges { node { value } } } }'
const documents = { stream: `subscription ${selection}`, query: `query ${selection}` } as const
const honestDocument = 'query Note($id: Int!) { notesCollection(filter: {id: {eq: $id}}) { edges { node { title } } } }'

export const openStage = async (major: Major): Promise<Stage> => {
  const postgres = await startPostgres(major)
  const db = await createDatabase({ major, prepare: true, sql })
  const access = await createAccess()
  const owner = projectKeys(access.secret).serviceRole
  const { server } = await startProduct(db, access, {
    // All clients have one address, as behind a proxy.
    env: { METRICS: 'on', CLIENT_ADDRESS_HEADER: 'x-client' },
  })
  const { port } = server
  const known = new Map<string, Access>()
  const accessOf = async (who: string): Promise<Access> => {
    const found = known.get(who) ?? (await accessAs(access, { sub: who }))
    known.set(who, found)
    return found
  }
  const metrics = httpRequest({ method: 'GET', path: '/metrics', headers: { apikey: owner } })
  return {
    db,
    port,
    pids: { service: server.pid, postgres: postgres.pid },
    request: async (id, who, form) => {
      const { apikey, token } = who === 'owner' ? { apikey: owner, token: owner } : await accessOf(who)
      const accept = form === 'stream' ? 'text/event-stream' : 'application/json'
      const headers = { apikey, authorization: `Bearer ${token}`, accept }
      return httpRequest({ path: '/graphql/v1', headers, body: { query: documents[form], variables: { id } } })
    },
    honest: () => {
      const headers = { apikey: access.apikey, authorization: `Bearer ${access.token}` }
      const variables = { id: 1 + Math.floor(Math.random() * 1_000) }
      return httpRequest({ path: '/graphql/v1', headers, body: { query: honestDocument, variables } })
    },
    runs: async () => {
      const { body } = await sendOnce(port, metrics)
      const counts = body.toString().matchAll(/^catalograph_live_runs_total\{[^}]*\} (\d+)/gm)
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    },
    transactions: async () => {
      const { rows } = await db.query(`select xact_commit::int8::text as n from pg_stat_database
        where datname = current_database()`)
      return Number((rows[0] as { readonly n: string }).n)
    },
    close: async () => {
      await server.stop()
      await db.drop()
      await postgres.stop()
    },
  }
}
