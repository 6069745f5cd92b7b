import type { RunStatement } from '../../../db/pool/statements.ts'
import type { AdminCall } from '../../call/call.ts'
import { refuse, type AuthFailure } from '../../protocol/errors.ts'
import { pathId } from '../../protocol/input.ts'
import { audit, type AuditAction } from '../../store/audit-log.ts'
import { findUserById, instanceId } from '../../store/users.ts'
import type { UserRef, UserRow } from '../../protocol/records.ts'

export const noSuchUser = (message = 'User not found'): AuthFailure =>
  refuse('user_not_found', { status: 404, message })

/** The user in the path. Throws 404 `validation_failed` and `user_not_found`. */
export async function targetUser(run: RunStatement, { params }: AdminCall): Promise<UserRow> {
  return existingUser(run, pathId(params, 'user_id'))
}

/** Throws 404 `user_not_found`. */
export async function existingUser(run: RunStatement, id: string, message?: string): Promise<UserRow> {
  const user = await findUserById(run, id)
  if (user === null) throw noSuchUser(message)
  return user
}

/** Records an administrator's action in the audit log, with the role of the token as its actor. */
export async function auditAdmin(
  run: RunStatement,
  { adminRole, client }: AdminCall,
  action: AuditAction,
  user: UserRef,
): Promise<void> {
  const actor = { id: instanceId, email: adminRole }
  const traits = { user_id: user.id, user_email: user.email ?? '' }
  await audit(run, { action, actor, address: client.address, traits })
}
