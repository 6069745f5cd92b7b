import { setTimeout as pause } from 'node:timers/promises'
import type { LiveRelation } from '../../../runtime/contract/live.ts'
import { DatabaseFailure, isAway } from '../../../runtime/db/failures/failures.ts'
import { inTransactionBlock, type Query } from '../../../runtime/db/connect/session.ts'
import { pauseMs, retries } from '../../../runtime/lib/retry.ts'
import { liveInstalled } from './live-installed.ts'

/** Why the changes of a relation cannot be reported. */
export type LiveHindrance =
  /** It is not a table, it is temporary or of Postgres, or one of its partitions or children is a foreign table. */
  | 'kind'
  /** It receives rows by logical replication, which fires no triggers. */
  | 'replicated'
  /** Its rows are distributed (Citus). */
  | 'distributed'
  /** Other sessions held locks on it at each attempt. */
  | 'busy'
  /** The role lacks the privilege, or there are no event triggers. */
  | 'refused'
  | 'absent'

export interface NotInstalled {
  readonly relation: LiveRelation
  readonly why: LiveHindrance
}

/** The lock timeout in milliseconds: writers of a table wait behind a waiting lock. */
const lockTimeoutMs = 200

/** The total time of retries for all locked tables, in milliseconds. */
const longestMs = 3_000

const lockNotAvailable = '55P03'
const cannotBeLive = 'CG004'
const hindrances: ReadonlySet<string> = new Set<LiveHindrance>(['kind', 'replicated', 'distributed', 'refused'])

const look = `select n.nspname as schema, c.relname as name, c.oid::text as oid, ${liveInstalled('c.oid')} as installed
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where (n.nspname, c.relname) in (select e ->> 'schema', e ->> 'name' from pg_catalog.json_array_elements($1) e)`

interface Seen extends LiveRelation {
  readonly oid: string
  readonly installed: boolean
}

const hindranceOf = (error: unknown): LiveHindrance => {
  if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
  if (error.sqlstate === lockNotAvailable) return 'busy'
  if (error.sqlstate === cannotBeLive && hindrances.has(error.message)) return error.message as LiveHindrance
  return 'refused'
}

/** One statement, so that its locks end with it. */
const install = async (query: Query, oid: string): Promise<LiveHindrance | null> => {
  const work = `select pg_catalog.set_config('lock_timeout', '${lockTimeoutMs}', true), catalograph.live_install($1)`
  return query(work, [oid]).then(() => null, hindranceOf)
}

/** The obstacle to the installation of each; null: none. Locked ones are tried again after all others. */
const installAll = async (
  query: Query,
  oids: readonly string[],
): Promise<ReadonlyMap<string, LiveHindrance | null>> => {
  const found = new Map<string, LiveHindrance | null>()
  const end = performance.now() + longestMs
  let pending = oids
  for (let attempt = 1; ; attempt += 1) {
    for (const oid of pending) if (attempt === 1 || performance.now() < end) found.set(oid, await install(query, oid))
    pending = pending.filter((oid) => found.get(oid) === 'busy')
    if (pending.length === 0 || attempt >= retries.liveInstall.attempts || performance.now() >= end) return found
    await pause(pauseMs(retries.liveInstall, attempt))
  }
}

/** A comment of the relation, of one in its tree or of one of these schemas that enables it, for any service. */
const enabling = `'"?live"?\\s*:\\s*\\{[^}]*"?enabled"?\\s*:\\s*true'`

const findUnwanted = `select r.root::text as root, c.oid::pg_catalog.regclass::text as name
  from catalograph.live_roots() r (root) left join pg_catalog.pg_class c on c.oid = r.root
  where coalesce(r.root = $2, true)
    and r.root not in (select t.root from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      cross join lateral catalograph.live_tops(c.oid) t (root)
      where (n.nspname, c.relname) in (select e ->> 'schema', e ->> 'name' from pg_catalog.json_array_elements($1) e))
    and not exists (select from catalograph.live_tree(r.root) t (member)
      join pg_catalog.pg_class c on c.oid = t.member
      join pg_catalog.pg_description d on d.objsubid = 0
        and (d.classoid, d.objoid) in (('pg_catalog.pg_class'::pg_catalog.regclass, c.oid),
          ('pg_catalog.pg_namespace'::pg_catalog.regclass, c.relnamespace))
      where d.description ~ ${enabling})`

interface Unwanted {
  readonly root: string
  /** Null: it was dropped. */
  readonly name: string | null
}

const removeUnwanted = async (query: Query, wanted: string): Promise<void> => {
  const { rows } = await query<Unwanted>(findUnwanted, [wanted, null])
  // Triggers that cannot be removed now cost writers little, and the next call tries again.
  for (const each of rows) await remove(query, wanted, each).catch(hindranceOf)
}

/** Under the lock that a comment on the table takes as well: its owner may have made it live again in the meantime. */
const remove = (query: Query, wanted: string, { root, name }: Unwanted): Promise<void> =>
  inTransactionBlock(query, async () => {
    await query(`select pg_catalog.set_config('lock_timeout', '${lockTimeoutMs}', true)`)
    if (name !== null) await query(`lock table ${name} in access exclusive mode`)
    const { rows } = await query<Unwanted>(findUnwanted, [wanted, root])
    if (rows.length > 0) await query('select catalograph.live_remove($1)', [root])
  })

/**
 * Installs missing triggers of live relations, and removes those of relations that are no longer live. Each is a
 * separate transaction that waits shortly for its locks.
 * @param query as the role that prepares
 * @returns the relations without them, and why. Rejects with DatabaseFailure while the database is unavailable.
 */
export const installLive = async (
  query: Query,
  relations: readonly LiveRelation[],
): Promise<readonly NotInstalled[]> => {
  const wanted = JSON.stringify(relations)
  const { rows } = await query<Seen>(look, [wanted])
  const found = await installAll(
    query,
    rows.flatMap(({ oid, installed }) => (installed ? [] : [oid])),
  )
  const missing = relations.flatMap((relation): readonly NotInstalled[] => {
    const seen = rows.find(({ schema, name }) => schema === relation.schema && name === relation.name)
    const why = seen === undefined ? 'absent' : (found.get(seen.oid) ?? null)
    return why === null ? [] : [{ relation, why }]
  })
  await removeUnwanted(query, wanted).catch(hindranceOf)
  return missing
}
