import type { Position } from '../../contract/execution.ts'
import type { Query } from '../connect/session.ts'

/** A server's report of its replication position. Any role may ask. */

export interface ServerIdentity {
  /** The system identifier; replicas have the same. */
  readonly system: string
  /** When it was started; it differs between the servers of a system. */
  readonly started: string
}

export interface PrimaryStatus extends ServerIdentity {
  readonly position: Position
}

export interface ReplicaStatus extends ServerIdentity {
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
 * The control file receives a timeline with the next restart point; the WAL receiver knows it at once, and shows it to
 * members of pg_monitor. A login role that does not inherit must become that role first, for the statement: CASE
 * evaluates in this order (manual 4.2.14). It receives a new timeline only if the replayed position lies on it.
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
 * The position of the next record may lie behind the header of a page that is not written yet; no replica replays a
 * header alone. The end of the last record is then at most the page's beginning (XLogPageHeaderData, xlog_internal.h).
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

/** True if both accept writes that the other never receives: a primary that was replaced and came back. */
export const isSecondPrimary = (primary: ServerIdentity, other: ReplicaStatus): boolean =>
  !other.replays && other.system === primary.system && other.started !== primary.started

/** The remedy: one of them must stop. */
export const endSecondPrimary =
  'stop the one whose writes may go, and make it a standby of the other (pg_rewind, standby.signal)'

/** The remedy for a replica address that is the primary's. */
export const nameStandbys = 'name servers in DATABASE_REPLICA_URLS that replay the one of DATABASE_URL'

/** Rejects with DatabaseFailure, also if the server is not a primary. */
export const readPrimaryStatus = async (query: Query): Promise<PrimaryStatus> => {
  const { lsn, timeline, segment, page, ...identity } = await first<PrimaryRow>(query, primarySql)
  return { position: { timeline, lsn: endOfRecords(BigInt(lsn), BigInt(page), BigInt(segment)) }, ...identity }
}

/** Rejects with DatabaseFailure. */
export const readReplicaStatus = async (query: Query): Promise<ReplicaStatus> => {
  const row = await first<Omit<ReplicaStatus, 'lsn'> & { readonly lsn: string }>(query, replicaSql)
  return { ...row, lsn: BigInt(row.lsn) }
}
