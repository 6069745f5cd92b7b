import type { FactorRow } from '../protocol/records.ts'
import { defineAction, defineList, defineLookup } from './define.ts'

/** auth.mfa_factors. Adding or removing factors requires the lock of the user's row (lockUser). */

const factorColumns = 'id, friendly_name, factor_type, status, created_at, updated_at'

export interface FactorWithSecret extends FactorRow {
  /** Base32. */
  readonly secret: string | null
}

/** Null: the user has no such factor; another user may. */
export const findFactor = defineLookup<FactorWithSecret, [userId: string, id: string]>(
  'auth.factors.find',
  `select ${factorColumns}, secret from auth.mfa_factors where user_id = $1 and id = $2`,
)

export const listFactors = defineList<FactorRow, [userId: string]>(
  'auth.factors.list',
  `select ${factorColumns} from auth.mfa_factors where user_id = $1 order by created_at, id`,
)

export interface NewFactor {
  readonly id: string
  readonly userId: string
  /** Null: it has none. */
  readonly friendlyName: string | null
  readonly secret: string
}

/** Enrols a TOTP factor, which has no effect until it is verified. */
export const insertFactor = defineAction<[factor: NewFactor]>(
  'auth.factors.insert',
  `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
  values ($1, $2, $3, 'totp', 'unverified', $4, now(), now())
  returning ${factorColumns}`,
  ({ id, userId, friendlyName, secret }) => [id, userId, friendlyName, secret],
)

/** Abandoned enrolments, and an unnamed one that a new unnamed one replaces (spec/auth.md 5.7). */
export const deleteAbandonedFactors = defineAction<[userId: string, alsoUnnamed: boolean]>(
  'auth.factors.delete-abandoned',
  `delete from auth.mfa_factors
  where user_id = $1 and status = 'unverified' and (
    (created_at < now() - interval '300 seconds' and last_challenged_at is null)
    or ($2 and factor_type = 'totp' and coalesce(trim(friendly_name), '') = ''))`,
)

/** The user's enrolments beside the verified factor. */
export const deleteOtherEnrolments = defineAction<[userId: string, id: string]>(
  'auth.factors.delete-other-unverified',
  `delete from auth.mfa_factors
  where user_id = $1 and id <> $2 and status = 'unverified' and factor_type = 'totp'`,
)

/** Its previous state; null: deleted. */
export const markFactorVerified = defineLookup<Pick<FactorRow, 'status'>, [userId: string, id: string]>(
  'auth.factors.mark-verified',
  `with before as (select id, status from auth.mfa_factors where user_id = $1 and id = $2 for update)
  update auth.mfa_factors f set status = 'verified', updated_at = now() from before where f.id = before.id
  returning before.status`,
)

/** The renamed factor; null: the user has no such factor. Rejects with SQLSTATE 23505 if the name is taken. */
export const renameFactor = defineLookup<FactorRow, [userId: string, id: string, friendlyName: string]>(
  'auth.factors.rename',
  `update auth.mfa_factors set friendly_name = $3, updated_at = now() where user_id = $1 and id = $2
  returning ${factorColumns}`,
)

/**
 * Removes a factor and returns it; null: the user has no such factor. Sessions that it raised are aal1 from their next
 * token on.
 */
export const removeFactor = defineLookup<FactorRow, [userId: string, id: string]>(
  'auth.factors.remove',
  `with gone as (
    delete from auth.mfa_factors where user_id = $1 and id = $2 returning ${factorColumns}
  ), lowered as (
    update auth.sessions s set aal = 'aal1', factor_id = null, updated_at = now()
    from gone where s.user_id = $1 and s.factor_id = gone.id
    returning s.id
  ), forgotten as (
    delete from auth.mfa_amr_claims c using lowered
    where c.session_id = lowered.id and c.authentication_method = 'totp'
  )
  select ${factorColumns} from gone`,
)
