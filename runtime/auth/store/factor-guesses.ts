import { defineAction, defineLookup } from './define.ts'
import { guessesIn, type TakenGuess } from './guesses.ts'

/**
 * catalograph_auth.factor_guesses, factor_devices and session_guesses: wrong codes of a factor between two right ones
 * (spec/auth.md 5.7), and wrong codes and passwords of a session.
 */

const { taken, verdict, release } = guessesIn({ table: 'factor_guesses', subject: 'factor_id', free: 10 })

/** Reserves a guess of a factor before the comparison; null: the factor is deleted. */
export const takeFactorGuess = defineLookup<TakenGuess, [device: Buffer, factorId: string]>(
  'auth.factor-guesses.take',
  `with asking as materialized (
    select exists (select from catalograph_auth.factor_devices where factor_id = $2 and device = $1) as known
    from auth.mfa_factors where id = $2 for key share
  ), ${taken}
  select ${verdict}`,
)

/** The code was right: the guess does not count. */
export const giveFactorGuessBack = defineAction<[known: boolean, factorId: string]>(
  'auth.factor-guesses.give-back',
  release,
)

/** Reserves one of the five guesses of a session, of a code below aal2 or of the old password; null: it has ended. */
export const takeSessionGuess = defineLookup<{ readonly granted: boolean }, [sessionId: string]>(
  'auth.factor-guesses.take-of-session',
  `with present as materialized (select id from auth.sessions where id = $1 for key share),
  taken as (
    insert into catalograph_auth.session_guesses as s (session_id, failures) select id, 1 from present
    on conflict (session_id) do update set failures = s.failures + 1 where s.failures < 5
    returning 1
  )
  select exists (select from taken) as granted from present`,
)

export const giveSessionGuessBack = defineAction<[sessionId: string]>(
  'auth.factor-guesses.give-back-to-session',
  'update catalograph_auth.session_guesses set failures = greatest(failures - 1, 0) where session_id = $1',
)

/** The device has passed: counts begin at zero, and it is known from now on. */
export const notePassed = defineAction<[factorId: string, device: Buffer]>(
  'auth.factor-guesses.pass',
  `with cleared as (delete from catalograph_auth.factor_guesses where factor_id = $1)
  insert into catalograph_auth.factor_devices as d (factor_id, device) values ($1, $2)
  on conflict (factor_id, device) do update set passed_at = now()`,
)
