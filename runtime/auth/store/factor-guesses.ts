import { defineAction, defineLookup, defineTest } from './define.ts'

/**
 * catalograph_auth.factor_guesses, factor_devices and session_guesses: wrong codes of a factor between two right ones
 * (spec/auth.md 5.7). Run all but the last by itself, never in a transaction that may be rolled back: a guess that was
 * taken stays taken.
 */

/** Of all devices that never passed, and of those that did together: 100 (NIST SP 800-63B, 3.2.2). */
const [mostOfStrangers, mostOfKnown] = [80, 20]
const day = 86_400

/** Seconds before the next guess: none after nine, then a minute more each time. What is known may go on once a day. */
const pause = (failures: string): string => `case
    when known and ${failures} >= ${mostOfKnown} then ${day}
    else greatest(0, ${failures} - 9) * 60 end`

const isDue = (failures: string, lastAt: string): string => `(known or ${failures} < ${mostOfStrangers})
    and ${lastAt} + make_interval(secs => ${pause(failures)}) <= clock_timestamp()`

export interface TakenGuess {
  readonly granted: boolean
  /** Until the next guess; of a factor that strangers may guess no more, a day. */
  readonly seconds: number
}

/** Takes a guess of a factor before the code is compared. */
export const takeGuess = defineLookup<TakenGuess, [factorId: string, device: Buffer]>(
  'auth.factor-guesses.take',
  `with asking as materialized (
    select exists (select from catalograph_auth.factor_devices where factor_id = $1 and device = $2) as known
  ), taken as (
    insert into catalograph_auth.factor_guesses as g (factor_id, known, failures, last_at)
    select $1, known, 1, clock_timestamp() from asking
    on conflict (factor_id, known) do update set failures = g.failures + 1, last_at = clock_timestamp()
    where ${isDue('g.failures', 'g.last_at').replaceAll('known', 'g.known')}
    returning 1
  )
  select exists (select from taken) as granted, greatest(1, ceil(coalesce((
    select case when not g.known and g.failures >= ${mostOfStrangers} then ${day} else extract(epoch from
      g.last_at + make_interval(secs => ${pause('g.failures').replaceAll('known', 'g.known')}) - clock_timestamp()) end
    from catalograph_auth.factor_guesses g where g.factor_id = $1 and g.known = asking.known), 60)))::int as seconds
  from asking`,
)

/** The code was right: it was no wrong one. */
export const giveGuessBack = defineAction<[factorId: string, device: Buffer]>(
  'auth.factor-guesses.give-back',
  `update catalograph_auth.factor_guesses g set failures = greatest(g.failures - 1, 0)
  where g.factor_id = $1 and g.known = exists (
    select from catalograph_auth.factor_devices where factor_id = $1 and device = $2)`,
)

/** Takes one of the five wrong codes that a session below aal2 may give; false when none is left. */
export const takeSessionGuess = defineTest<[sessionId: string]>(
  'auth.factor-guesses.take-of-session',
  `insert into catalograph_auth.session_guesses as s (session_id, failures) values ($1, 1)
  on conflict (session_id) do update set failures = s.failures + 1 where s.failures < 5
  returning s.failures`,
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
