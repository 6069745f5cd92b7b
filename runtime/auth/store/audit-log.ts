import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { UserRef, DatabaseTime } from '../protocol/records.ts'
import { instanceId } from './users.ts'
import type { JsonObject } from '../../lib/json.ts'
import { listLength } from './define.ts'

/**
 * auth.audit_log_entries (spec/auth.md 12): inserted in the transaction of the action itself. An entry never contains a
 * secret.
 */

/** The recorded actions, by their type. */
const auditActions = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  user_modified: 'user',
  user_recovery_requested: 'user',
  user_confirmation_requested: 'user',
  user_reauthenticate_requested: 'user',
  user_updated_password: 'user',
  user_repeated_signup: 'user',
  identity_linked: 'user',
  identity_unlinked: 'user',
  token_revoked: 'token',
  token_refreshed: 'token',
  token_issued: 'token',
  factor_in_progress: 'factor',
  factor_unenrolled: 'factor',
  factor_deleted: 'factor',
  factor_updated: 'factor',
  challenge_created: 'factor',
  verification_attempted: 'factor',
  settings_changed: 'settings',
  template_changed: 'settings',
} as const

export type AuditAction = keyof typeof auditActions

const insert = statement<object>(
  'auth.audit-log.insert',
  `insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
  values ('${instanceId}', gen_random_uuid(), $1, now(), $2)`,
)

interface AuditEntry {
  readonly action: AuditAction
  readonly actor: UserRef
  readonly address: string | null
  readonly traits?: Readonly<Record<string, string>>
}

export const audit = async (run: RunStatement, { action, actor, address, traits }: AuditEntry): Promise<void> => {
  const payload = {
    actor_id: actor.id,
    actor_username: actor.email ?? '',
    actor_via_sso: false,
    action,
    log_type: auditActions[action],
    ...(traits !== undefined && { traits }),
  }
  await run(insert, [payload, address ?? ''])
}

/**
 * The part of a statement that records an action of the users `u` in `source`. `address` is SQL for a text or null,
 * `traits` more members of the payload.
 */
export const auditedIn = (action: AuditAction, source: string, address: string, traits = ''): string => `audited as (
    insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
    select '${instanceId}', gen_random_uuid(), json_build_object('actor_id', u.id,
        'actor_username', coalesce(u.email, ''), 'actor_via_sso', false,
        'action', '${action}', 'log_type', '${auditActions[action]}'${traits}),
      now(), coalesce(${address}, '')
    from ${source}
  )`

export type AuditMember = 'actor_username' | 'action' | 'log_type'

export type AuditFilter =
  | {
      readonly member: AuditMember
      /** A part of the entry, ignoring case; empty: every entry. */
      readonly text: string
    }
  /** Actions of a user, and of administrators on the user. */
  | { readonly userId: string }

interface AuditRow {
  readonly id: string
  readonly payload: JsonObject | null
  readonly created_at: DatabaseTime | null
  readonly ip_address: string
}

const log = 'auth.audit_log_entries'

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
