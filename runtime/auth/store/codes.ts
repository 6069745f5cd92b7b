import { statement, type RunStatement } from '../../db/statements.ts'
import { slots, type Slot } from './one-time-tokens.ts'

/** catalograph_auth.codes: guesses of mailed codes (section 9.2). */

const mostTries = 5

export interface ReservedGuess {
  /** Empty: the token is GoTrue's. */
  readonly salt: Buffer
  /** What the slot holds: with `pkce_` before it when the mail belongs to such a flow. */
  readonly token: string
  readonly issued_seconds_ago: number
}

const reserve = (slot: Slot) =>
  statement<ReservedGuess>(
    `auth.codes.reserve.${slot}`,
    `update catalograph_auth.codes c set tries = c.tries + 1
    from auth.users u
    where c.user_id = $1 and c.slot = '${slot}' and c.tries < ${mostTries}
      and u.id = c.user_id and u.${slots[slot].column} <> ''
    returning c.salt, u.${slots[slot].column} as token,
      extract(epoch from clock_timestamp() - c.issued_at)::float8 as issued_seconds_ago`,
  )

const reserveIn = Object.fromEntries(Object.keys(slots).map((slot) => [slot, reserve(slot as Slot)])) as Readonly<
  Record<Slot, ReturnType<typeof reserve>>
>

/** What came with an imported project has its code in GoTrue's form and no secret part: an empty one stands for that. */
const adopt = (slot: Slot) =>
  statement<object>(
    `auth.codes.adopt.${slot}`,
    `insert into catalograph_auth.codes (user_id, slot, salt, tries, issued_at)
    select u.id, '${slot}', '', 0, coalesce(u.${slots[slot].sent}, now()) from auth.users u
    where u.id = $1 and u.${slots[slot].column} <> ''
    on conflict do nothing`,
  )

const adoptIn = Object.fromEntries(Object.keys(slots).map((slot) => [slot, adopt(slot as Slot)])) as Readonly<
  Record<Slot, ReturnType<typeof adopt>>
>

/**
 * Takes one of the five guesses of a code, and only then tells what to compare with; null when none is left or nothing
 * is pending. Run it by itself, never in a transaction that may be rolled back: a guess that was taken stays taken.
 */
export const reserveGuess = async (run: RunStatement, userId: string, slot: Slot): Promise<ReservedGuess | null> =>
  (await run(reserveIn[slot], [userId]))[0] ?? (await reserveAdopted(run, userId, slot))

async function reserveAdopted(run: RunStatement, userId: string, slot: Slot): Promise<ReservedGuess | null> {
  await run(adoptIn[slot], [userId])
  return (await run(reserveIn[slot], [userId]))[0] ?? null
}
