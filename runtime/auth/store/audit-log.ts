import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { UserRef } from '../protocol/records.ts'
import { instanceId } from './users.ts'

/**
 * auth.audit_log_entries (spec/auth.md 12): inserted in the transaction of the action itself. An entry never contains a
 * secret.
 */

/** The recorded actions, by their type. */
export const auditActions = {
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

export interface AuditEntry {
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
