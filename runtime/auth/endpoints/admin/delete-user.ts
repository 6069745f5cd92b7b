import type { RunStatement } from '../../../db/pool/statements.ts'
import { json, type AdminCall, type Outcome } from '../../call/call.ts'
import { pathId } from '../../protocol/input.ts'
import { deleteUserForGood, deleteUserSoftly } from '../../store/admin-users.ts'
import { findUserById, lockUser } from '../../store/users.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import { auditAdmin, noSuchUser } from './target-user.ts'

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
