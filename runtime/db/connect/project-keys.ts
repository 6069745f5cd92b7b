import type { ListedKey } from '../../identity/project-keys.ts'
import { inTransactionBlock, type Query } from './session.ts'

/** The table of the project's keys; it is created with the first key that is added or revoked. */

const oid = `(select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'catalograph' and c.relname = 'project_keys')`

/** ISO 8601. */
const time = (column: string): string =>
  `pg_catalog.to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

const list = `select id, role, ${time('added_at')} as "addedAt", ${time('revoked_at')} as "revokedAt"
  from catalograph.project_keys order by added_at nulls first, id`

export type ReadProjectKeys = () => Promise<readonly ListedKey[]>

/**
 * Creates the reader. Until the table exists it queries the catalogue, because a failed statement would be an error in
 * the database's log. Rejects with DatabaseFailure, also if the table was dropped after it was found.
 */
export function createProjectKeysReader(query: Query): ReadProjectKeys {
  let isThere = false
  return async () => {
    isThere ||= (await query(`select from (select ${oid} as oid) t where t.oid is not null`)).rows.length > 0
    return isThere ? (await query<ListedKey>(list)).rows : []
  }
}

/** PUBLIC may read it: ids and dates are not secret, and the login role has no privileges of its own. */
const makeTable = `create table if not exists catalograph.project_keys (
  id text primary key, role text not null, added_at timestamptz, revoked_at timestamptz)`

/** The owner of the schema owns every object in it (compiler/following/prepare/migration.ts). */
const giveTable = `do $$ begin
  execute (select pg_catalog.format('alter table catalograph.project_keys owner to %I', pg_catalog.pg_get_userbyid(n.nspowner))
    from pg_catalog.pg_namespace n where n.nspname = 'catalograph');
  grant select on catalograph.project_keys to public;
end $$`

async function ensureTable(query: Query): Promise<void> {
  if ((await query(`select from (select ${oid} as oid) t where t.oid is null`)).rows.length === 0) return
  await query(makeTable)
  await query(giveTable)
}

const withTable = (query: Query, work: () => Promise<unknown>): Promise<void> =>
  inTransactionBlock(query, async () => {
    await ensureTable(query)
    await work()
  })

/** Rejects with DatabaseFailure, as revokeProjectKey does. */
export const addProjectKey = (query: Query, { id, role }: Pick<ListedKey, 'id' | 'role'>): Promise<void> =>
  withTable(query, async () => {
    await query('insert into catalograph.project_keys (id, role, added_at) values ($1, $2, now())', [id, role])
  })

/** Revocation is permanent; a key that was revoked before keeps its date. */
export const revokeProjectKey = (query: Query, { id, role }: Pick<ListedKey, 'id' | 'role'>): Promise<void> =>
  withTable(query, async () => {
    await query(
      `insert into catalograph.project_keys as k (id, role, revoked_at) values ($1, $2, now())
      on conflict (id) do update set revoked_at = coalesce(k.revoked_at, excluded.revoked_at)`,
      [id, role],
    )
  })
