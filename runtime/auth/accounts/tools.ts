import type { StatementsDatabase, RunStatement } from '../../db/pool/statements.ts'
import type { Client, UserCall } from '../call/call.ts'
import type { ProviderSet } from '../providers/provider-set.ts'
import type { ProveFlow } from '../rules/credentials.ts'
import type { Passwords } from '../secrets/passwords.ts'
import type { MailRequests } from '../mails/mail-requests.ts'
import type { Mailer } from '../mails/mailer.ts'
import type { OneTimeTokens } from '../secrets/one-time-tokens.ts'
import type { Throttle } from '../limits/throttle.ts'
import type { AccessTokens } from '../secrets/access-tokens.ts'
import { refuse } from '../protocol/errors.ts'
import type { SessionRow } from '../protocol/records.ts'
import { findUserWithSession, lockUser } from '../store/users.ts'
import type { Caller } from '../../contract/execution.ts'
import { createLru } from '../../lib/caches.ts'
import { claimsOf, isUuid } from '../protocol/input.ts'
import { noteUse } from '../store/refresh-tokens.ts'
import type { WhereReady } from '../schema/migrate.ts'

export interface AuthTools {
  readonly database: StatementsDatabase
  readonly passwords: Passwords
  readonly tokens: AccessTokens
  readonly oneTime: OneTimeTokens
  readonly mailer: Mailer
  readonly mailRequests: MailRequests
  readonly throttle: Throttle
  /** The key that identifies the device of a request. */
  readonly deviceOf: (client: Client) => Buffer
  /** The key that counts guesses of an address, in lower case. */
  readonly addressHash: (email: string) => Buffer
  readonly providers: ProviderSet
  readonly proveFlow: ProveFlow
  readonly now: () => number
}

export type AccountHolder = Pick<UserCall, 'user' | 'session'>

/**
 * The caller under the lock of the user's row, because earlier checks took time. The session has the lower of the two
 * levels, that of the token and its own. Throws as spec/auth.md 2.2 says.
 */
export async function lockCaller(run: RunStatement, { user, session }: AccountHolder): Promise<AccountHolder> {
  const [, present] = await Promise.all([
    lockUser(run, user.id),
    findUserWithSession(run, user.id, session?.id ?? null),
  ])
  if (present === null) throw refuse('user_not_found')
  if (session !== null && present.session === null) throw refuse('session_not_found')
  if (present.banned) throw refuse('user_banned')
  return { user: present, session: isLow(session) ? session : present.session }
}

/** Whether a session is below aal2; a token without one is. */
export const isLow = (session: SessionRow | null): boolean => (session?.aal ?? 'aal1') === 'aal1'

/** Whether the caller must show the second factor before changing sign-in methods. */
export const owesFactor = ({ user, session }: AccountHolder): boolean =>
  user.factors.some(({ status }) => status === 'verified') && isLow(session)

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
