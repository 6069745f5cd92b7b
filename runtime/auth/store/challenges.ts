import { DatabaseFailure } from '../../db/failures/failures.ts'
import { retries, retry } from '../../lib/retry.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { defineAction, defineLookup, defineTest } from './define.ts'

/** auth.mfa_challenges, and catalograph_auth.totp_steps: what keeps a code from being guessed or used twice. */

/** Seconds in which a challenge can be answered (spec/auth.md 3.4). */
const challengeSeconds = 300

const mostFailures = 10
const failureSeconds = 300

const insert = statement<{ readonly expires_at: string }>(
  'auth.challenges.insert',
  `with noted as (
    update auth.mfa_factors set last_challenged_at = clock_timestamp() where id = $2
  )
  insert into auth.mfa_challenges (id, factor_id, created_at, ip_address)
  values ($1, $2, now(), coalesce($3::inet, '0.0.0.0'))
  returning extract(epoch from created_at + interval '${challengeSeconds} seconds')::bigint::text as expires_at`,
)

export interface ChallengeRow {
  readonly used: boolean
  readonly same_address: boolean
  readonly expired: boolean
}

const wait = statement<{ readonly seconds: number }>(
  'auth.challenges.wait',
  `select greatest(1, ceil(extract(epoch from
    failures_since + interval '${failureSeconds} seconds' - now())))::int as seconds
  from catalograph_auth.totp_steps where factor_id = $1`,
)

const isSameInstant = (error: unknown): boolean => error instanceof DatabaseFailure && error.sqlstate === '23505'

/** Challenges a factor and gives the unix second at which the challenge expires. */
export const insertChallenge = async (
  run: RunStatement,
  { id, factorId, address }: { readonly id: string; readonly factorId: string; readonly address: string | null },
): Promise<number> => Number((await run(insert, [id, factorId, address]))[0]?.expires_at)

/**
 * The time of the last challenge is unique over all factors (spec/auth.md 13): work that challenges is done again when
 * two did so in one microsecond.
 */
export const atAnotherInstant = <T>(work: () => Promise<T>): Promise<T> => retry(retries.challenge, work, isSameInstant)

/** Null: the factor has no such challenge. */
export const findChallenge = defineLookup<ChallengeRow, [factorId: string, id: string, address: string | null]>(
  'auth.challenges.find',
  `select verified_at is not null as used, ip_address = coalesce($3::inet, '0.0.0.0') as same_address,
    created_at < now() - interval '${challengeSeconds} seconds' as expired
  from auth.mfa_challenges where factor_id = $1 and id = $2`,
)

/** Answers a challenge; false when somebody else was faster. */
export const useChallenge = defineTest<[id: string]>(
  'auth.challenges.use',
  'update auth.mfa_challenges set verified_at = now() where id = $1 and verified_at is null returning id',
)

/**
 * Takes one of the ten failures that a factor may have in five minutes, before the code is compared; false when none is
 * left. Run it by itself, never in a transaction that may be rolled back.
 */
export const reserveFailure = defineTest<[factorId: string]>(
  'auth.challenges.reserve',
  `insert into catalograph_auth.totp_steps as s (factor_id, failures, failures_since) values ($1, 1, now())
  on conflict (factor_id) do update set
    failures = case when s.failures_since < now() - interval '${failureSeconds} seconds' then 1 else s.failures + 1 end,
    failures_since = case when s.failures = 0 or s.failures_since < now() - interval '${failureSeconds} seconds'
      then now() else s.failures_since end
  where s.failures < ${mostFailures} or s.failures_since < now() - interval '${failureSeconds} seconds'
  returning s.failures`,
)

/** The code was right: it was no failure. */
export const releaseFailure = defineAction<[factorId: string]>(
  'auth.challenges.release',
  'update catalograph_auth.totp_steps set failures = greatest(failures - 1, 0) where factor_id = $1',
)

/** Seconds until a factor that has no failure left may be tried again. */
export const secondsToWait = async (run: RunStatement, factorId: string): Promise<number> =>
  (await run(wait, [factorId]))[0]?.seconds ?? 1

/** Accepts the code of a time step; false when one of that step or a later one was accepted before (RFC 6238, 5.2). */
export const acceptStep = defineTest<[factorId: string, step: number]>(
  'auth.challenges.accept',
  `insert into catalograph_auth.totp_steps as s (factor_id, last_step) values ($1, $2::bigint)
  on conflict (factor_id) do update set last_step = excluded.last_step where s.last_step < excluded.last_step
  returning factor_id`,
)
