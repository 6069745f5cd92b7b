import type { FactorRow } from '../protocol/records.ts'
import { defineAction, defineList, defineLookup, defineTest } from './define.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { retries, retry } from '../../lib/retry.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'

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

interface NewFactor {
  readonly id: string
  readonly userId: string
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

/** auth.mfa_challenges, and catalograph_auth.totp_steps, which prevents a second use of a code. */

/** Seconds in which a challenge can be answered (spec/auth.md 3.4). */
const challengeSeconds = 300

const insert = statement<{ readonly expires_at: string }>(
  'auth.challenges.insert',
  `with noted as (
    update auth.mfa_factors set last_challenged_at = clock_timestamp() where id = $2 returning id
  )
  insert into auth.mfa_challenges (id, factor_id, created_at, ip_address)
  select $1, id, now(), coalesce($3::inet, '0.0.0.0') from noted
  returning extract(epoch from created_at + interval '${challengeSeconds} seconds')::bigint::text as expires_at`,
)

export interface ChallengeRow {
  readonly used: boolean
  readonly same_address: boolean
  readonly expired: boolean
}

const isSameInstant = (error: unknown): boolean => error instanceof DatabaseFailure && error.sqlstate === '23505'

/** Challenges a factor and returns the unix second at which the challenge expires; null: the factor is deleted. */
export const insertChallenge = async (
  run: RunStatement,
  { id, factorId, address }: { readonly id: string; readonly factorId: string; readonly address: string | null },
): Promise<number | null> => {
  const [made] = await run(insert, [id, factorId, address])
  return made === undefined ? null : Number(made.expires_at)
}

/**
 * The time of the last challenge is unique over all factors (spec/auth.md 13): two challenges in one microsecond
 * conflict, and the work is repeated.
 */
export const atAnotherInstant = <T>(work: () => Promise<T>): Promise<T> => retry(retries.challenge, work, isSameInstant)

/** Null: the factor has no such challenge. */
export const findChallenge = defineLookup<ChallengeRow, [factorId: string, id: string, address: string | null]>(
  'auth.challenges.find',
  `select verified_at is not null as used, ip_address = coalesce($3::inet, '0.0.0.0') as same_address,
    created_at < now() - interval '${challengeSeconds} seconds' as expired
  from auth.mfa_challenges where factor_id = $1 and id = $2`,
)

/** Answers a challenge; false if a concurrent call was first. */
export const useChallenge = defineTest<[id: string]>(
  'auth.challenges.use',
  'update auth.mfa_challenges set verified_at = now() where id = $1 and verified_at is null returning id',
)

/** Accepts the code of a time step; false if one of that step or a later one was accepted before (RFC 6238, 5.2). */
export const acceptStep = defineTest<[factorId: string, step: number]>(
  'auth.challenges.accept',
  `insert into catalograph_auth.totp_steps as s (factor_id, last_step) values ($1, $2::bigint)
  on conflict (factor_id) do update set last_step = excluded.last_step where s.last_step < excluded.last_step
  returning factor_id`,
)
