import { DatabaseFailure } from '../../db/failures/failures.ts'
import { retries, retry } from '../../lib/retry.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineLookup, defineTest } from './define.ts'

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
