import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { DatabaseTime } from '../protocol/types.ts'
import type { JsonObject } from '../../lib/json-object.ts'

/** auth.audit_log_entries as administrators read them. */

export interface AuditFilter {
  /** Member of the payload that is looked into. */
  readonly member: 'actor_username' | 'action' | 'log_type'
  /** A part of the entry, in any case; empty: every entry. */
  readonly text: string
}

export interface AuditRow {
  readonly id: string
  readonly payload: JsonObject | null
  readonly created_at: DatabaseTime | null
  readonly ip_address: string
}

const matching = `$2::text = '' or position(lower($2) in lower(coalesce(payload ->> $1::text, ''))) > 0`

const count = statement<{ readonly total: number }>(
  'auth.audit-pages.count',
  `select count(*)::int as total from auth.audit_log_entries where ${matching}`,
)

const page = statement<AuditRow>(
  'auth.audit-pages.page',
  `select id, payload, created_at, ip_address from auth.audit_log_entries where ${matching}
  order by created_at desc, id limit $3::bigint offset $4::bigint`,
)

export const countAuditLog = async (run: RunStatement, { member, text }: AuditFilter): Promise<number> =>
  (await run(count, [member, text]))[0]?.total ?? 0

export const readAuditLog = (
  run: RunStatement,
  { member, text }: AuditFilter,
  limit: number,
  offset: number,
): Promise<readonly AuditRow[]> => run(page, [member, text, limit, offset])
