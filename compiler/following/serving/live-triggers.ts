import type { LiveRelation } from '../../../runtime/contract/live.ts'
import { withSession } from '../../../runtime/db/connect/session.ts'
import { pauseMs, retries } from '../../../runtime/lib/retry.ts'
import type { Installed, LiveTriggers } from '../../emit/live/database.ts'
import { installLive, type NotInstalled } from '../prepare/install-live.ts'
import { liveInstalled } from '../prepare/live-installed.ts'

/** Existing triggers of live relations: none are created or removed. */
export const seenTriggers: LiveTriggers = {
  hasTriggers: liveInstalled('c.oid'),
  install: () => Promise.resolve({ isWhole: false, awaited: [] }),
}

/**
 * Triggers of live relations, which the preparing role creates. A relation without the necessary privileges stays
 * without, which a remark reports. If other sessions hold locks on one for long it is awaited, and tried again later:
 * its triggers change the schema, so that the next request finds it live.
 * @param ownerUrl connection URL of the preparing role
 */
export const liveTriggersBy = (ownerUrl: string): LiveTriggers => {
  let waiting: NodeJS.Timeout | null = null
  let wanted: readonly LiveRelation[] = []
  const install = (relations: readonly LiveRelation[]): Promise<readonly NotInstalled[]> =>
    withSession({ url: ownerUrl }, (query) => installLive(query, relations))
  const isBusy = ({ why }: NotInstalled): boolean => why === 'busy'
  const tryLater = (relations: readonly LiveRelation[], attempt = 1): void => {
    const again = async (): Promise<void> => {
      const isDone = await install(relations).then(
        (missing) => !missing.some(isBusy),
        () => false,
      )
      // Others may have been requested since.
      if (!isDone && wanted === relations) tryLater(relations, attempt + 1)
    }
    waiting = setTimeout(() => void again(), pauseMs(retries.liveInstallLater, attempt)).unref()
  }
  return {
    ...seenTriggers,
    install: async (relations): Promise<Installed> => {
      if (waiting !== null) clearTimeout(waiting)
      wanted = relations
      const missing = await install(relations)
      const awaited = missing.filter(isBusy).map(({ relation }) => relation)
      if (awaited.length > 0) tryLater(relations)
      return { isWhole: missing.length === 0, awaited }
    },
  }
}
