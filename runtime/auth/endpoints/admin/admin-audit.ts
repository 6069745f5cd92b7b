import type { RunStatement } from '../../../db/pool/statements.ts'
import type { AdminCall } from '../../call/call.ts'
import { audit, type AuditAction } from '../../store/audit-log.ts'
import type { UserRef } from '../../protocol/records.ts'
import { instanceId } from '../../store/users.ts'

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
