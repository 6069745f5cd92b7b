import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { DatabaseTime } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'
import { listLength } from './list-length.ts'

/** Administrators' queries of auth.audit_log_entries. */

/** The searched member of the payload. */
export type AuditMember = 'actor_username' | 'action' | 'log_type'

export type AuditFilter =
  | {
      readonly member: AuditMember
      /** A part of the entry, ignoring case; empty: every entry. */
      readonly text: string
    }
  /** Actions of a user, and of administrators on the user. */
  | { readonly userId: string }

export interface AuditRow {
  readonly id: string
  readonly payload: JsonObject | null
  readonly created_at: DatabaseTime | null
  readonly ip_address: string
}

const log = 'auth.audit_log_entries'

/** @param parameters the number of the condition's parameters */
const pagesOf = (name: string, condition: string, parameters: number) => ({
  count: statement<{ readonly total: number }>(
    `auth.audit-pages.${name}.count`,
    parameters === 0 ? listLength(log, condition) : `select count(*)::float8 as total from ${log} where ${condition}`,
  ),
  page: statement<AuditRow>(
    `auth.audit-pages.${name}.page`,
    `select id, payload, created_at, ip_address from ${log} where ${condition}
    order by created_at desc, id limit $${parameters + 1}::bigint offset $${parameters + 2}::bigint`,
  ),
})

const everything = pagesOf('everything', 'true', 0)

const matching = pagesOf('matching', `position(lower($2) in lower(coalesce(payload ->> $1::text, ''))) > 0`, 2)

const ofUser = pagesOf('of-user', `$1::text in (payload ->> 'actor_id', payload -> 'traits' ->> 'user_id')`, 1)

function chosen(filter: AuditFilter) {
  if ('userId' in filter) return { ...ofUser, values: [filter.userId] }
  return filter.text === '' ? { ...everything, values: [] } : { ...matching, values: [filter.member, filter.text] }
}

export async function countAuditLog(run: RunStatement, filter: AuditFilter): Promise<number> {
  const { count, values } = chosen(filter)
  return (await run(count, values))[0]?.total ?? 0
}

export function readAuditLog(
  run: RunStatement,
  filter: AuditFilter,
  limit: number,
  offset: number,
): Promise<readonly AuditRow[]> {
  const { page, values } = chosen(filter)
  return run(page, [...values, limit, offset])
}
