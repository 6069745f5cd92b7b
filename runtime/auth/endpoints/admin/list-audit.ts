import { json, type AdminCall, type Outcome } from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { pageHeaders, readPage } from '../../protocol/paging.ts'
import { rfc3339 } from '../../rules/times.ts'
import { countAuditLog, readAuditLog, type AuditFilter } from '../../store/audit-pages.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'

/** GET /admin/audit: newest first. */
export async function listAudit({ query }: AdminCall<typeof io.listAudit>, { database }: AuthTools): Promise<Outcome> {
  const page = readPage(query)
  const asked = query.query ?? ''
  const filter = readFilter(asked)
  const total = await countAuditLog(database.run, filter)
  const rows = await readAuditLog(database.run, filter, page.perPage, (page.page - 1) * page.perPage)
  const entries = rows.map(({ created_at, ...row }) => ({
    ...row,
    ...(created_at !== null && { created_at: rfc3339(created_at) }),
  }))
  return json(entries, pageHeaders('/admin/audit', page, total, { query: asked }))
}

const members = new Map<string, AuditFilter['member']>([
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
