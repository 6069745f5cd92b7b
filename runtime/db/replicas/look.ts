import type { Position } from '../../contract/position.ts'
import type { Query } from '../connect/session.ts'

/** What a server tells of how far it is. Any role may ask. */

export interface ServerIdentity {
  /** The database system that it is a server of; replicas have the same. */
  readonly system: string
  /** When it was started: no two servers of a system have the same. */
  readonly started: string
}

export interface PrimarySight extends ServerIdentity {
  readonly position: Position
}

export interface ReplicaSight extends ServerIdentity {
  /** False: it is a primary. */
  readonly replays: boolean
  readonly lsn: bigint
  /** The newest timeline that it is known to follow. */
  readonly timeline: number
}

const identityColumns = `(select system_identifier::text from pg_catalog.pg_control_system()) as system,
  pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::text as started`

const primarySql = `select (pg_catalog.pg_current_wal_insert_lsn() - '0/0')::text as lsn,
  ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::bit(32)::int as timeline,
  pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size'))::text as segment,
  pg_catalog.current_setting('wal_block_size') as page,
  ${identityColumns}`

/**
 * The control file learns of a timeline with the next restart point; what receives the log knows it at once, and tells members
 * of pg_monitor. A login role that inherits nothing has to become that role first, which lasts for the statement: CASE
 * evaluates in this order (manual 4.2.14). It receives a new timeline only where what was replayed lies on it.
 */
const mayBecome = `case when pg_catalog.current_setting('server_version_num')::int < 160000 then 'MEMBER' else 'SET' end`
const receivedTimeline = `case when not pg_catalog.pg_has_role('pg_monitor', ${mayBecome}) then null
    when pg_catalog.set_config('role', 'pg_monitor', true) is not null then
      (select received_tli from pg_catalog.pg_stat_get_wal_receiver()) end`

const replicaSql = `select pg_catalog.pg_is_in_recovery() as replays,
  coalesce(pg_catalog.pg_last_wal_replay_lsn() - '0/0', 0)::text as lsn,
  greatest(
    (select timeline_id from pg_catalog.pg_control_checkpoint()),
    (select min_recovery_end_timeline from pg_catalog.pg_control_recovery()),
    ${receivedTimeline}) as timeline,
  ${identityColumns}`

interface PrimaryRow extends ServerIdentity {
  readonly lsn: string
  readonly timeline: number
  readonly segment: string
  readonly page: string
}

/**
 * The place where the next record begins may lie behind the header of a page that is not written yet; no replica replays a
 * header by itself. Where the last record ended is at most the page's beginning then (XLogPageHeaderData, xlog_internal.h).
 */
const [shortHeader, longHeader] = [24n, 40n]

export function endOfRecords(lsn: bigint, page: bigint, segment: bigint): bigint {
  const header = lsn % page
  const start = lsn - header
  return header === (start % segment === 0n ? longHeader : shortHeader) ? start : lsn
}

const first = async <R extends object>(query: Query, text: string): Promise<R> => {
  const { rows } = await query<R>(text)
  if (rows[0] === undefined) throw new Error('no row')
  return rows[0]
}

/** Whether both take writes that the other one never has: a primary that was replaced and came back. */
export const isSecondPrimary = (primary: ServerIdentity, other: ReplicaSight): boolean =>
  !other.replays && other.system === primary.system && other.started !== primary.started

/** What ends that: one of them has to give up. */
export const endSecondPrimary =
  'stop the one whose writes may go, and make it a standby of the other (pg_rewind, standby.signal)'

/** What makes a replica of an address that is the primary's. */
export const nameStandbys = 'name servers in DATABASE_REPLICA_URLS that replay the one of DATABASE_URL'

/** Rejects with DatabaseFailure, also where the server is no primary. */
export const lookAtPrimary = async (query: Query): Promise<PrimarySight> => {
  const { lsn, timeline, segment, page, ...identity } = await first<PrimaryRow>(query, primarySql)
  return { position: { timeline, lsn: endOfRecords(BigInt(lsn), BigInt(page), BigInt(segment)) }, ...identity }
}

/** Rejects with DatabaseFailure. */
export const lookAtReplica = async (query: Query): Promise<ReplicaSight> => {
  const row = await first<Omit<ReplicaSight, 'lsn'> & { readonly lsn: string }>(query, replicaSql)
  return { ...row, lsn: BigInt(row.lsn) }
}
