import {
  hostName,
  hostsOf,
  type Host,
  parametersOf,
  type ConnectEnvironment,
} from '../../../../runtime/db/connect/parameters.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { reasonOf } from '../../../../runtime/db/failures/failures.ts'
import {
  endSecondPrimary,
  isSecondPrimary,
  readReplicaStatus,
  type ReplicaStatus,
} from '../../../../runtime/db/replicas/replication-status.ts'
import { hostUrls } from '../../../../runtime/lib/host-urls.ts'
import { advise, fault, ok, type Finding } from './findings.ts'

const check = 'hosts'

/** The same URL for one of its hosts: parameters of the query decide. */
const urlOf = (url: string, { host = '', port }: Host): string => {
  const [first = url] = hostUrls(url)
  const one = new URL(first)
  one.searchParams.set('host', host)
  one.searchParams.set('port', String(port))
  one.searchParams.set('target_session_attrs', 'any')
  return one.href
}

/** A host, and its answer; null: unavailable. */
interface Looked {
  readonly name: string
  readonly status: ReplicaStatus | null
  readonly finding: Finding
}

const lookAt = async (url: string, host: Host): Promise<Looked> => {
  const name = hostName(host)
  try {
    const status = await withSession({ url: urlOf(url, host) }, readReplicaStatus)
    return { name, status, finding: ok(check, `${name} is a ${status.replays ? 'standby' : 'primary'}`) }
  } catch (error) {
    const message = `${name} is away: ${reasonOf(error)}`
    return {
      name,
      status: null,
      finding: advise(check, message, 'until it is back, its part cannot be taken over by it'),
    }
  }
}

/** Each further host that accepts writes: a connection may reach any of them. */
function secondPrimaries(checked: readonly Looked[]): readonly Finding[] {
  const first = checked.find(({ status }) => status?.replays === false)
  return checked.flatMap(({ name, status }) => {
    if (first === undefined || first.status === null || status === null || !isSecondPrimary(first.status, status))
      return []
    return [fault(check, `${first.name} and ${name} are both primaries of one database`, endSecondPrimary)]
  })
}

/** Parameters with which a list leads to the server that accepts writes. */
const followsPrimary: ReadonlySet<string | undefined> = new Set(['read-write', 'primary'])

/** Of each host, if a URL names several. */
export async function hostFindings(url: string, environment: ConnectEnvironment): Promise<readonly Finding[]> {
  const parameters = parametersOf(url, environment)
  const hosts = hostsOf(parameters)
  if (hosts.length === 1) return []
  const checked = await Promise.all(hosts.map((host) => lookAt(url, host)))
  const found = [...checked.map(({ finding }) => finding), ...secondPrimaries(checked)]
  if (followsPrimary.has(parameters['target_session_attrs'])) return found
  return [
    ...found,
    advise(
      check,
      'requests go to whichever host answers first, be it a standby',
      'add target_session_attrs=read-write to DATABASE_URL',
    ),
  ]
}
