import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../../db/pool/statements.ts'
import {
  checkAddressIsFree,
  confirmAddress,
  endPending,
  refuseTakenAddress,
  savingUser,
  isTakenAddress,
} from '../../accounts/accounts.ts'
import { addressHashOf } from '../../accounts/sign-in.ts'
import { json, type AdminCall, type Outcome, checkMetadataChange, checkNewMetadata } from '../../call/call.ts'
import { userJson, emailAppMetadata } from '../../rules/user-json.ts'
import {
  noteAddressProof,
  findLockedUser,
  findUserById,
  mergeUserMetadata,
  setPasswordHash,
  findUserByEmail,
  insertUser,
  lockUser,
} from '../../store/users.ts'
import {
  mergeAppMetadata,
  setUserBan,
  setUserEmail,
  setUserRole,
  deleteUserForGood,
  deleteUserSoftly,
  countUsers,
  findUserOrDeleted,
  readUserPage,
} from '../../store/admin-users.ts'
import { setEmailIdentity, ensureEmailIdentity } from '../../store/identities.ts'
import { resetGuesses } from '../../store/password-guesses.ts'
import { deleteSessionsOf } from '../../store/sessions.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import type { UserRef, UserRow } from '../../protocol/records.ts'
import { auditAdmin, noSuchUser, targetUser, existingUser } from './target-user.ts'
import { hashOf, readAdminUser, type AdminUserInput } from './user-input.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import { refuse } from '../../protocol/errors.ts'
import { pathId, pageHeaders, readPage } from '../../protocol/input.ts'

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

export async function createUser(call: AdminCall<typeof io.createUser>, tools: AuthTools): Promise<Outcome> {
  const input = readAdminUser(call, 'create')
  checkNewMetadata(input.userMetadata ?? {}, { ...emailAppMetadata, ...input.appMetadata })
  if (input.email !== null && (await findUserByEmail(tools.database.run, input.email)) !== null) {
    throw refuse('email_exists')
  }
  const passwordHash = await hashOf(tools, input)
  const user = await savingUser(() =>
    tools.database.transaction((run) => createByAdmin(run, call, input, passwordHash)),
  ).catch(refuseTaken)
  return json(userJson(user))
}

async function createByAdmin(run: RunStatement, call: AdminCall, input: AdminUserInput, passwordHash: string | null) {
  const { email } = input
  const id = input.id ?? randomUUID()
  if (input.id !== null && (await findUserById(run, id)) !== null) throw takenId()
  const user = {
    id,
    email,
    passwordHash,
    appMetadata: { ...emailAppMetadata, ...input.appMetadata },
    userMetadata: input.userMetadata ?? {},
    ...(input.role !== null && { role: input.role }),
  }
  await insertUser(run, user, call.settings)
  await ensureEmailIdentity(run, id, { sub: id, email, email_verified: false, phone_verified: false })
  if (input.emailConfirm) await confirmAddress(run, { id, email }, 'admin')
  if (input.ban !== null) await setUserBan(run, id, input.ban.seconds)
  await auditAdmin(run, call, 'user_signedup', { id, email })
  return existingUser(run, id)
}

const takenId = () => refuse('user_already_exists', 'A user with this id has already been registered')

function refuseTaken(error: unknown): never {
  if (isTakenAddress(error)) throw refuse('email_exists')
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof DatabaseFailure && cause.sqlstate === '23505') throw takenId()
  throw error
}

/** DELETE /admin/users/{id}: for good, or softly if rows of the owner must keep their reference. */
export async function deleteUser(call: AdminCall<typeof io.deleteUser>, { database }: AuthTools): Promise<Outcome> {
  const id = pathId(call.params, 'user_id')
  const softly = call.body.should_soft_delete ?? false
  await database.transaction((run) => remove(run, call, id, softly))
  return json({})
}

/** A softly deleted user can still be deleted for good. */
async function remove(run: RunStatement, call: AdminCall, id: string, softly: boolean): Promise<void> {
  if (!(await lockUser(run, id))) throw noSuchUser()
  const user = await findUserById(run, id)
  await auditAdmin(run, call, 'user_deleted', { id, email: user?.email ?? null })
  await (softly ? deleteUserSoftly(run, id) : deleteUserForGood(run, id))
}

/** GET /admin/users: newest first by default. */
export async function listUsers(
  { query, settings }: AdminCall<typeof io.listUsers>,
  { database }: AuthTools,
): Promise<Outcome> {
  const page = readPage(query)
  const { filter = '', sort = '' } = query
  const order = readOrder(sort)
  const total = await countUsers(database.run, filter)
  const offset = (page.page - 1) * page.perPage
  const users = await readUserPage(database.run, { filter, order, limit: page.perPage, offset })
  const headers = pageHeaders('/admin/users', page, total, { filter, sort })
  return json({ users: users.map(userJson), aud: settings.jwt_aud }, headers)
}

/** The one sort column, with its direction: `created_at asc`. */
function readOrder(sort: string): 'asc' | 'desc' {
  if (sort === '') return 'desc'
  const direction = /^created_at(?: (asc|desc))?$/i.exec(sort.trim())
  if (direction === null) throw refuse('validation_failed', 'Bad Sort Parameters: only created_at can be sorted by')
  return direction[1]?.toLowerCase() === 'asc' ? 'asc' : 'desc'
}

/** GET /admin/users/{id}: also a softly deleted user, who is in no list. */
export async function showUser({ params }: AdminCall, { database }: AuthTools): Promise<Outcome> {
  const user = await findUserOrDeleted(database.run, pathId(params, 'user_id'))
  if (user === null) throw noSuchUser()
  return json(userJson(user))
}
