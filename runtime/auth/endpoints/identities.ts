import type { RunStatement } from '../../db/pool/statements.ts'
import { endPending, isTakenAddress } from '../accounts/accounts.ts'
import { lockCaller, type AuthTools } from '../accounts/tools.ts'
import { checkMayLink } from '../accounts/provider-sign-in.ts'
import { json, redirect, type Outcome, type SessionCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { pathId } from '../protocol/input.ts'
import { onlyProviders } from '../rules/providers.ts'
import { mergeAppMetadata, setUserEmail } from '../store/admin-users.ts'
import { audit } from '../store/audit-log.ts'
import { deleteIdentity } from '../store/identities.ts'
import type * as io from '../io/user.ts'
import type { IdentityRow, UserRow } from '../protocol/records.ts'
import { startAuthorization } from './authorize.ts'

/** Identities of a signed-in user (spec/auth.md 5.6). Whether they may be changed is checked first. */

function checkOffered({ settings }: SessionCall): void {
  if (!settings.manual_linking) throw refuse('manual_linking_disabled')
}

/** GET /user/identities/authorize */
export async function authorizeIdentity(
  call: SessionCall<typeof io.authorizeIdentity>,
  tools: AuthTools,
): Promise<Outcome> {
  checkOffered(call)
  checkMayLink(call)
  const url = await startAuthorization(call, tools, { userId: call.user.id, sessionId: call.session.id })
  return call.query.skip_http_redirect === 'true' ? json({ url }) : redirect(302, url)
}

/** DELETE /user/identities/{identity_id} */
export async function unlinkIdentity(call: SessionCall, tools: AuthTools): Promise<Outcome> {
  checkOffered(call)
  const id = pathId(call.params, 'identity_id')
  try {
    await tools.database.transaction((run) => unlink(run, call, id))
  } catch (error) {
    if (isTakenAddress(error)) throw refuse('email_conflict_identity_not_deletable')
    throw error
  }
  return json({})
}

async function unlink(run: RunStatement, call: SessionCall, id: string): Promise<void> {
  const caller = await lockCaller(run, call)
  checkMayLink(caller)
  const { user } = caller
  if (user.identities.length < 2) throw refuse('single_identity_not_deletable')
  const gone = user.identities.find((identity) => identity.id === id)
  if (gone === undefined || !(await deleteIdentity(run, user.id, id))) throw refuse('identity_not_found')
  const left = user.identities.filter((identity) => identity !== gone)
  await keepAddressProved(run, user, gone, left)
  const providers = [...new Set(left.map(({ provider }) => provider))]
  await mergeAppMetadata(run, user.id, { ...onlyProviders(user.raw_app_meta_data, providers) })
  const traits = { identity_id: id, provider: gone.provider }
  await audit(run, { action: 'identity_unlinked', actor: user, address: call.client.address, traits })
}

/** The address belonged to the removed identity: that of another identity replaces it, if its provider has verified it. */
async function keepAddressProved(
  run: RunStatement,
  user: UserRow,
  gone: IdentityRow,
  left: readonly IdentityRow[],
): Promise<void> {
  const address = user.email?.toLowerCase() ?? null
  if (gone.email !== address || left.some(({ email }) => email === address)) return
  const heir = left.find(({ email, identity_data: data }) => email !== null && data?.['email_verified'] === true)
  if (heir?.email == null) return
  await setUserEmail(run, user.id, heir.email)
  await endPending(run, user.id)
}
