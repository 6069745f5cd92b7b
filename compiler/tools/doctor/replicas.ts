import { withSession } from '../../../runtime/db/connect/session.ts'
import {
  lookAtPrimary,
  lookAtReplica,
  type PrimarySight,
  type ReplicaSight,
} from '../../../runtime/db/replicas/look.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

const check = 'replicas'

const findingOf = (name: string, { position, system }: PrimarySight, replica: ReplicaSight): Finding => {
  if (!replica.replays)
    return fault(
      check,
      `${name} is a primary`,
      'name servers in DATABASE_REPLICA_URLS that replay the one of DATABASE_URL',
    )
  if (replica.system !== system)
    return fault(check, `${name} replays another database system`, 'check DATABASE_REPLICA_URLS')
  if (replica.timeline !== position.timeline)
    return advise(
      check,
      `${name} is on timeline ${replica.timeline}, the primary on ${position.timeline}`,
      'after a promotion a replica answers from its next restart point on, or at once where the login role has pg_monitor',
    )
  const behind = position.lsn - replica.lsn
  return ok(check, `${name} replays the primary${behind > 0n ? `, and is ${behind} bytes behind` : ''}`)
}

/** Of each replica, by its number in DATABASE_REPLICA_URLS. Rejects where one cannot be reached. */
export async function replicaFindings(loginUrl: string, urls: readonly string[]): Promise<readonly Finding[]> {
  if (urls.length === 0) return []
  const primary = await withSession({ url: loginUrl }, lookAtPrimary)
  const look = async (url: string, index: number): Promise<Finding> =>
    findingOf(`replica ${index + 1}`, primary, await withSession({ url }, lookAtReplica))
  return Promise.all(urls.map(look))
}
