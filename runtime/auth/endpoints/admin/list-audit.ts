import type { RunStatement } from '../../../db/pool/statements.ts'
import { json, type AdminCall, type Outcome } from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { pageHeaders, readPage, type GivenPage } from '../../protocol/input.ts'
import { rfc3339 } from '../../rules/user-json.ts'
import { countAuditLog, readAuditLog, type AuditFilter, type AuditMember } from '../../store/audit-log.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import { targetUser } from './target-user.ts'

/** GET /admin/audit: newest first. */
export async function listAudit({ query }: AdminCall<typeof io.listAudit>, { database }: AuthTools): Promise<Outcome> {
  const asked = query.query ?? ''
  return answerPage(database.run, '/admin/audit', query, readFilter(asked), { query: asked })
}

/** GET /admin/users/{id}/audit: actions of the user, and of administrators on the user; newest first. */
export async function listAuditOf(call: AdminCall<typeof io.listAuditOf>, { database }: AuthTools): Promise<Outcome> {
  const { id } = await targetUser(database.run, call)
  return answerPage(database.run, `/admin/users/${id}/audit`, call.query, { userId: id }, {})
}

async function answerPage(
  run: RunStatement,
  path: string,
  given: GivenPage,
  filter: AuditFilter,
  rest: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const page = readPage(given)
  const total = await countAuditLog(run, filter)
  const rows = await readAuditLog(run, filter, page.perPage, (page.page - 1) * page.perPage)
  const entries = rows.map(({ created_at, ...row }) => ({
    ...row,
    ...(created_at !== null && { created_at: rfc3339(created_at) }),
  }))
  return json(entries, pageHeaders(path, page, total, rest))
}

const members = new Map<string, AuditMember>([
  ['author', 'actor_username'],
  ['action', 'action'],
  ['type', 'log_type'],
])

/** `author:x`, `action:x` or `type:x`. */
function readFilter(query: string): AuditFilter {
  const [, scope = '', text = ''] = /^([^:]*):(.*)$/s.exec(query) ?? []
  const member = query === '' ? 'action' : members.get(scope)
  if (member === undefined) throw refuse('validation_failed', 'Invalid query scope: use author:, action: or type:')
  return { member, text }
}
