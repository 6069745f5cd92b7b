import type { RunStatement } from '../../../db/pool/statements.ts'
import {
  checkAddressIsFree,
  confirmAddress,
  endPending,
  refuseTakenAddress,
  savingUser,
} from '../../accounts/accounts.ts'
import { addressHashOf } from '../../accounts/sign-in.ts'
import { json, type AdminCall, type Outcome, checkMetadataChange } from '../../call/call.ts'
import { userJson } from '../../rules/user-json.ts'
import {
  noteAddressProof,
  findLockedUser,
  findUserById,
  mergeUserMetadata,
  setPasswordHash,
} from '../../store/users.ts'
import { mergeAppMetadata, setUserBan, setUserEmail, setUserRole } from '../../store/admin-users.ts'
import { setEmailIdentity } from '../../store/identities.ts'
import { resetGuesses } from '../../store/password-guesses.ts'
import { deleteSessionsOf } from '../../store/sessions.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import type { UserRef, UserRow } from '../../protocol/records.ts'
import { auditAdmin, noSuchUser, targetUser } from './target-user.ts'
import { hashOf, readAdminUser, type AdminUserInput } from './user-input.ts'
import type { JsonObject } from '../../../lib/json.ts'

/** PUT /admin/users/{id}: sets all given members, and merges metadata; in one transaction. */
export async function updateUserAsAdmin(call: AdminCall<typeof io.updateUser>, tools: AuthTools): Promise<Outcome> {
  const { id } = await targetUser(tools.database.run, call)
  const input = readAdminUser(call, 'update')
  if (input.email !== null) await checkAddressIsFree(tools.database.run, id, input.email)
  const hash = await hashOf(tools, input)
  const user = await savingUser(() =>
    tools.database.transaction((run) => update(run, tools, call, id, { ...input, hash })),
  ).catch(refuseTakenAddress)
  return json(userJson(user))
}

interface Update extends AdminUserInput {
  readonly hash: string | null
}

async function update(
  run: RunStatement,
  tools: AuthTools,
  call: AdminCall,
  id: string,
  input: Update,
): Promise<UserRow> {
  const before = await findLockedUser(run, id)
  if (before === null) throw noSuchUser()
  checkMetadataChange(before, { user: input.userMetadata, app: input.appMetadata })
  const { email } = input
  if (email !== null && email !== before.email) await moveAddress(run, before, email)
  // A guest without an address has nothing to confirm, and stays a guest.
  const confirmed = { id, email: email ?? before.email }
  const confirms = input.emailConfirm && (confirmed.email ?? '') !== ''
  if (confirms && (before.email_confirmed_at === null || before.is_anonymous)) {
    await confirmAddress(run, confirmed, 'admin')
  }
  await applyRest(run, tools, confirmed, input)
  await auditAdmin(run, call, 'user_modified', confirmed)
  return (await findUserById(run, id)) ?? before
}

/** Codes and links that were mailed to the old address become invalid (spec/auth.md, attack 41). */
async function moveAddress(run: RunStatement, user: UserRow, email: string): Promise<void> {
  const verified = user.email_confirmed_at !== null
  await setUserEmail(run, user.id, email)
  await endPending(run, user.id)
  await setEmailIdentity(run, user.id, { sub: user.id, email, email_verified: verified })
  await mergeAppMetadata(run, user.id, withEmailProvider(user.raw_app_meta_data ?? {}))
  if (verified) await noteAddressProof(run, user.id, 'admin')
}

function withEmailProvider(metadata: JsonObject): JsonObject {
  const { provider, providers } = metadata
  const known = Array.isArray(providers) ? (providers as readonly unknown[]) : []
  return { provider: provider ?? 'email', providers: known.includes('email') ? known : [...known, 'email'] }
}

/** After the confirmation, which may remove a password of unknown owner. */
async function applyRest(run: RunStatement, tools: AuthTools, user: UserRef, input: Update): Promise<void> {
  const { id } = user
  if (input.hash !== null) {
    await setPasswordHash(run, id, input.hash)
    await resetGuesses(run, { userId: id, addressHash: addressHashOf(tools, user), sessionId: null, device: null })
    await endPending(run, id)
    await deleteSessionsOf(run, id)
  }
  if (input.userMetadata !== null) await mergeUserMetadata(run, id, input.userMetadata)
  if (input.appMetadata !== null) await mergeAppMetadata(run, id, input.appMetadata)
  if (input.role !== null) await setUserRole(run, id, input.role)
  if (input.ban === null) return
  await setUserBan(run, id, input.ban.seconds)
  if (input.ban.seconds !== null) await endPending(run, id)
}
