import { setTimeout as pause } from 'node:timers/promises'
import { withSession, type Query } from '../../../../runtime/db/connect/session.ts'
import { reasonOf } from '../../../../runtime/db/failures/failures.ts'
import {
  endSecondPrimary,
  isSecondPrimary,
  readPrimaryStatus,
  readReplicaStatus,
  nameStandbys,
  type PrimaryStatus,
  type ReplicaStatus,
} from '../../../../runtime/db/replicas/replication-status.ts'
import type { Settings } from '../../../../runtime/settings/keys.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

const check = 'replicas'

const findingOf = (name: string, primary: PrimaryStatus, replica: ReplicaStatus, longestMs: number): Finding => {
  const { position, system } = primary
  if (replica.system !== system)
    return fault(check, `${name} is a server of another database system`, 'check DATABASE_REPLICA_URLS')
  if (isSecondPrimary(primary, replica)) return fault(check, `${name} is a second primary`, endSecondPrimary)
  if (!replica.replays) return fault(check, `${name} is a primary`, nameStandbys)
  if (replica.timeline !== position.timeline)
    return advise(
      check,
      `${name} is on timeline ${replica.timeline}, the primary on ${position.timeline}`,
      'after a promotion a replica answers from its next restart point on, or at once where the login role has pg_monitor',
    )
  return replica.lsn >= position.lsn
    ? ok(check, `${name} replays the primary`)
    : advise(
        check,
        `${name} is more than ${longestMs} ms behind the primary, and answers nothing while it is`,
        `find out what holds it up (pg_stat_replication of the primary, pg_get_wal_replay_pause_state() there), or raise REPLICA_MAX_STALENESS_MS`,
      )
}

const lookEveryMs = 50

/** The report of a replica once it has replayed the primary's position, or after its time limit. */
const lookInTime = async (query: Query, { position }: PrimaryStatus, longestMs: number): Promise<ReplicaStatus> => {
  for (const until = performance.now() + longestMs; ; await pause(lookEveryMs)) {
    const status = await readReplicaStatus(query)
    const isOther = !status.replays || status.timeline !== position.timeline
    if (isOther || status.lsn >= position.lsn || performance.now() > until) return status
  }
}

/** Of each replica, by its index in DATABASE_REPLICA_URLS. Rejects if the primary cannot be reached. */
export async function replicaFindings(
  loginUrl: string,
  { replicaUrls, replicaMaxStalenessMs }: Settings,
): Promise<readonly Finding[]> {
  if (replicaUrls === null) return []
  const primary = await withSession({ url: loginUrl }, readPrimaryStatus)
  const look = async (url: string, index: number): Promise<Finding> => {
    const name = `replica ${index + 1}`
    try {
      const replica = await withSession({ url }, (query) => lookInTime(query, primary, replicaMaxStalenessMs))
      return findingOf(name, primary, replica, replicaMaxStalenessMs)
    } catch (error) {
      return fault(check, `${name} is away: ${reasonOf(error)}`, 'check DATABASE_REPLICA_URLS')
    }
  }
  return Promise.all(replicaUrls.map(look))
}
