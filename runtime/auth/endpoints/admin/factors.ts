import type { RunStatement } from '../../../db/pool/statements.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import { json, type AdminCall, type Outcome } from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { pathId } from '../../protocol/input.ts'
import { factorJson, factorsJson } from '../../rules/user-json.ts'
import type { AuditAction } from '../../store/audit-log.ts'
import { removeFactor, renameFactor } from '../../store/factors.ts'
import { lockUser } from '../../store/users.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import type { FactorRow, UserRow } from '../../protocol/records.ts'
import { checkLength, longestFactorName } from '../factors.ts'
import { auditAdmin, targetUser } from './target-user.ts'

/** GET /admin/users/{id}/factors: the bare list. */
export async function listFactorsOf(call: AdminCall, { database }: AuthTools): Promise<Outcome> {
  return json(factorsJson(await targetUser(database.run, call)))
}

export async function renameFactorOf(call: AdminCall<typeof io.renameFactor>, tools: AuthTools): Promise<Outcome> {
  const { friendly_name: name = '' } = call.body
  checkLength('friendly_name', name, longestFactorName)
  const rename: Act = async (run, user, id) => (name === '' ? kept(user, id) : renameFactor(run, user.id, id, name))
  try {
    return await actOn(call, tools, 'factor_updated', rename)
  } catch (error) {
    const taken = error instanceof DatabaseFailure && error.sqlstate === '23505'
    throw taken ? refuse('mfa_factor_name_conflict') : error
  }
}

const kept = (user: UserRow, id: string): FactorRow | null => user.factors.find((factor) => factor.id === id) ?? null

/** DELETE /admin/users/{id}/factors/{id}: for a lost device. */
export async function removeFactorOf(call: AdminCall, tools: AuthTools): Promise<Outcome> {
  return actOn(call, tools, 'factor_deleted', (run, user, id) => removeFactor(run, user.id, id))
}

type Act = (run: RunStatement, user: UserRow, factorId: string) => Promise<FactorRow | null>

async function actOn(call: AdminCall, { database }: AuthTools, action: AuditAction, act: Act): Promise<Outcome> {
  const user = await targetUser(database.run, call)
  const id = pathId(call.params, 'factor_id')
  const factor = await database.transaction(async (run) => {
    await lockUser(run, user.id)
    const found = await act(run, user, id)
    if (found === null) throw refuse('mfa_factor_not_found')
    await auditAdmin(run, call, action, user)
    return found
  })
  return json(factorJson(factor))
}
