import { hostName, hostsOf, type Host } from '../../../runtime/db/connect/hosts.ts'
import { parametersOf, type ConnectEnvironment } from '../../../runtime/db/connect/parameters.ts'
import { withSession } from '../../../runtime/db/connect/session.ts'
import { reasonOf } from '../../../runtime/db/failures/reason.ts'
import { hostUrls } from '../../../runtime/lib/host-urls.ts'
import { advise, ok, type Finding } from './findings.ts'

const check = 'hosts'

const recoverySql = 'select pg_catalog.pg_is_in_recovery() as "isStandby"'

/** The same URL for one of its hosts, whatever that is: parameters of the query decide. */
const urlOf = (url: string, { host = '', port }: Host): string => {
  const [first = url] = hostUrls(url)
  const one = new URL(first)
  one.searchParams.set('host', host)
  one.searchParams.set('port', String(port))
  one.searchParams.set('target_session_attrs', 'any')
  return one.href
}

const findingOn = async (url: string, host: Host): Promise<Finding> => {
  const name = hostName(host)
  try {
    const { rows } = await withSession({ url: urlOf(url, host) }, (query) =>
      query<{ readonly isStandby: boolean }>(recoverySql),
    )
    return ok(check, `${name} is a ${rows[0]?.isStandby === true ? 'standby' : 'primary'}`)
  } catch (error) {
    return advise(check, `${name} is away: ${reasonOf(error)}`, 'until it is back, its part cannot be taken over by it')
  }
}

/** Parameters with which a list leads to the server that takes writes, whichever of them that is. */
const followsPrimary: ReadonlySet<string | undefined> = new Set(['read-write', 'primary'])

/** Of each host, where a URL names several. */
export async function hostFindings(url: string, environment: ConnectEnvironment): Promise<readonly Finding[]> {
  const parameters = parametersOf(url, environment)
  const hosts = hostsOf(parameters)
  if (hosts.length === 1) return []
  const found = await Promise.all(hosts.map((host) => findingOn(url, host)))
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
