import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../../db/pool/statements.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import { confirmAddress, isTakenAddress, savingUser } from '../../accounts/accounts.ts'
import { json, type AdminCall, type Outcome, checkNewMetadata } from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { emailAppMetadata, userJson } from '../../rules/user-json.ts'
import { setUserBan } from '../../store/admin-users.ts'
import { ensureEmailIdentity } from '../../store/identities.ts'
import { findUserByEmail, findUserById, insertUser } from '../../store/users.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import { auditAdmin, existingUser } from './target-user.ts'
import { hashOf, readAdminUser, type AdminUserInput } from './user-input.ts'

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
