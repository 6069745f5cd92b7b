import type { Log } from '../../settings/log/events.ts'
import type { Settings } from '../../settings/keys.ts'
import { PoolerFault, poolerFault, type Pooler } from '../connect/pooler.ts'
import { withDatabase } from './pool.ts'

/** The poolers in front of the databases of a process, found before it serves. */

/** Rejects where no connection is to be had. */
export const poolerBefore = (url: string): Promise<Pooler> =>
  withDatabase({ url, schemas: [] }, (database) => database.pooler())

type UrlSettings = Pick<Settings, 'databaseOwnerUrl' | 'databaseAuthUrl' | 'pooler'>

/** Unusable poolers behind the URLs other than that of the requests. An unreachable URL is reported by its user. */
export async function faultsOfOthers(
  requestsUrl: string,
  { databaseOwnerUrl, databaseAuthUrl, pooler }: UrlSettings,
): Promise<readonly string[]> {
  const faultOf = async ([name, url]: readonly [string, string | null]): Promise<string | null> =>
    url === null || url === requestsUrl ? null : poolerFault(pooler, await poolerBefore(url), `the database of ${name}`)
  const named = Object.entries({ DATABASE_OWNER_URL: databaseOwnerUrl, DATABASE_AUTH_URL: databaseAuthUrl })
  const faults = await Promise.all(named.map((one) => faultOf(one).catch(() => null)))
  return faults.filter((fault) => fault !== null)
}

export interface PoolerCheck {
  /** Rejects with PoolerFault for what cannot be worked with, and where requests find no connection. */
  readonly look: () => Promise<void>
  readonly fault: () => string | null
}

/**
 * Looks until each is something to work with.
 * @param find what stands before the database of the requests
 */
export function createPoolerCheck(
  settings: UrlSettings & { readonly databaseUrl: string },
  find: () => Promise<Pooler>,
  log: Log,
): PoolerCheck {
  let fault: string | null = null
  let isDone = false
  const look = async (): Promise<void> => {
    if (isDone) return
    const others = faultsOfOthers(settings.databaseUrl, settings)
    const found = await find()
    fault = poolerFault(settings.pooler, found) ?? (await others)[0] ?? null
    if (fault !== null) throw new PoolerFault(fault)
    isDone = true
    if (found !== 'none') log({ kind: 'pooler-found', keepsStatements: found === 'statements' })
  }
  return { look, fault: () => fault }
}
