import { confirmAddress } from './accounts.ts'
import { refuse } from '../protocol/errors.ts'
import { setUserEmail } from '../store/admin-users.ts'
import { endGuestState, findAccountsByAddress, findIdentityOwner } from '../store/linking.ts'
import { findLockedUser } from '../store/users.ts'
import { link, type Linked, type Linking } from './provider-sign-in.ts'

/**
 * A signed-in user adds the provider's identity to their account (spec/auth.md 5.6). Throws what that section lists.
 */
export async function linkToUser(linking: Linking, userId: string): Promise<Linked> {
  const { run, call, provider, profile } = linking
  if (!call.settings.manual_linking) throw refuse('manual_linking_disabled')
  const user = await findLockedUser(run, userId)
  if (user === null) throw refuse('user_not_found')
  if (user.banned) throw refuse('user_banned')
  const owner = await findIdentityOwner(run, provider, profile.subject)
  if (owner !== null) {
    const whose = owner.id === userId ? '' : ' to another user'
    throw refuse('identity_already_exists', `Identity is already linked${whose}`)
  }
  const holders = profile.email === null ? [] : await findAccountsByAddress(run, profile.email)
  if (holders.some(({ id }) => id !== userId)) throw refuse('email_conflict_identity_not_deletable')
  if (!user.email && profile.email !== null && profile.verified) {
    await setUserEmail(run, userId, profile.email)
    await confirmAddress(run, { id: userId, email: profile.email }, 'provider')
  }
  await endGuestState(run, userId)
  return link(linking, user)
}
