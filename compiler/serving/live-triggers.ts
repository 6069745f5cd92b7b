import { withSession } from '../../runtime/db/connect/session.ts'
import type { LiveTriggers } from '../live/database.ts'
import { installLive } from '../prepare/install-live.ts'
import { liveInstalled } from '../prepare/live-installed.ts'

/** Triggers of live relations as they are: none are made or removed. */
export const seenTriggers: LiveTriggers = { told: liveInstalled('c.oid'), install: () => Promise.resolve() }

/**
 * Triggers of live relations, which the preparing role makes. Relations that it may not give any stay without: they are remarked
 * on as not told.
 * @param ownerUrl connection URL of the preparing role
 */
export const liveTriggersBy = (ownerUrl: string): LiveTriggers => ({
  ...seenTriggers,
  install: (relations) =>
    withSession({ url: ownerUrl }, async (query) => {
      await installLive(query, relations)
    }),
})
