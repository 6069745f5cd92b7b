import type { RunStatement } from '../../../db/statements.ts'
import type { AdminCall } from '../../call.ts'
import { refuse, type AuthFailure } from '../../errors.ts'
import { pathId } from '../../input.ts'
import { findUserById } from '../../store/users.ts'
import type { UserRow } from '../../types.ts'

export const noSuchUser = (message = 'User not found'): AuthFailure =>
  refuse('user_not_found', { status: 404, message })

/** The user whom the path names. Throws 404 `validation_failed` and `user_not_found`. */
export async function targetUser(run: RunStatement, { params }: AdminCall): Promise<UserRow> {
  const user = await findUserById(run, pathId(params, 'user_id'))
  if (user === null) throw noSuchUser()
  return user
}
