import { confirmAddress } from './accounts.ts'
import { lockCaller, owesFactor, type AccountHolder } from './caller.ts'
import { refuse } from '../protocol/errors.ts'
import { setUserEmail } from '../store/admin-users.ts'
import { releaseAddress } from '../store/email-changes.ts'
import { endGuestState, findAccountsByAddress, findIdentityOwner } from '../store/linking.ts'
import { findUserWithSession } from '../store/users.ts'
import { link, type Linked, type Linking } from './provider-sign-in.ts'

/** Identities are sign-in methods: changing them requires the second factor, if there is one (spec/auth.md 5.6). */
export function checkMayLink(caller: AccountHolder): void {
  if (!owesFactor(caller)) return
  throw refuse('insufficient_aal', {
    status: 403,
    message: 'AAL2 session is required to link or unlink identities when MFA is enabled.',
  })
}

/**
 * A signed-in user adds the provider's identity to their account (spec/auth.md 5.6). Throws the refusals of that
 * section.
 */
export async function linkToUser(linking: Linking, caller: AccountHolder): Promise<Linked> {
  const { run, call, provider, profile } = linking
  if (!call.settings.manual_linking) throw refuse('manual_linking_disabled')
  const present = await lockCaller(run, caller)
  checkMayLink(present)
  const { user } = present
  const userId = user.id
  const owner = await findIdentityOwner(run, provider, profile.subject)
  if (owner !== null) {
    const whose = owner.id === userId ? '' : ' to another user'
    throw refuse('identity_already_exists', `Identity is already linked${whose}`)
  }
  const proved = profile.verified && !user.email ? profile.email : null
  if (proved !== null) await releaseAddress(run, proved, userId)
  const holders = profile.email === null ? [] : await findAccountsByAddress(run, profile.email)
  if (holders.some(({ id }) => id !== userId)) throw refuse('email_conflict_identity_not_deletable')
  if (proved !== null) {
    await setUserEmail(run, userId, proved)
    await confirmAddress(run, { id: userId, email: proved }, 'provider')
  }
  await endGuestState(run, userId)
  return link(linking, user)
}

/** The same when the provider sends the browser back: the requesting session must still exist. */
export async function linkReturned(linking: Linking, userId: string, sessionId: string | null): Promise<Linked> {
  const found = await findUserWithSession(linking.run, userId, sessionId)
  if (found === null) throw refuse('user_not_found')
  if (found.session === null) throw refuse('session_not_found')
  return linkToUser(linking, { user: found, session: found.session })
}
