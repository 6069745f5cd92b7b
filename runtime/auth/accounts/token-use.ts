import type { Caller } from '../../contract/execution.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import { createLru } from '../../lib/caches.ts'
import { claimsOf } from '../protocol/api-key.ts'
import { isUuid } from '../protocol/input.ts'
import { noteUse } from '../store/refresh-marks.ts'
import type { WhereReady } from '../schema/where-ready.ts'

/** Refresh tokens whose use one process remembers; forgetting costs a statement each. */
const mostNoted = 50_000

/**
 * Records that an access token is in use: its client received the refresh token with it, so that the previous one is
 * not a retry (spec/auth.md 7). One statement for each refresh token, which no request awaits; a record lost with the
 * database is made with the next access token.
 */
export function createTokenUse(run: RunStatement, whereReady: WhereReady): (caller: Caller) => void {
  const noted = createLru<string, true>(mostNoted)
  return (caller) => {
    const { session_id: session, refresh_mark: mark } = claimsOf(caller)
    if (typeof session !== 'string' || !isUuid(session) || typeof mark !== 'string') return
    const key = `${session} ${mark}`
    if (noted.get(key) !== undefined) return
    noted.set(key, true)
    void whereReady('refresh_marks', () => noteUse(run, session, mark)).catch(() => noted.delete(key))
  }
}
