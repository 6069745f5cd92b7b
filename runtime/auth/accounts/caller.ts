import type { RunStatement } from '../../db/pool/statements.ts'
import { refuse } from '../protocol/errors.ts'
import type { SessionRow, UserRow } from '../protocol/records.ts'
import { findUserWithSession, lockUser } from '../store/users.ts'

/** A signed-in user who acts on the account. */
export interface AccountHolder {
  readonly user: UserRow
  /** Null: the token names no session. */
  readonly session: SessionRow | null
}

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
