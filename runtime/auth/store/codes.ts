import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { bySlot, slots, type TokenHolder, type TokenSlot } from './one-time-tokens.ts'
import { ofAddress } from './users.ts'

/** catalograph_auth.codes: guesses of mailed codes (spec/auth.md 9.2). */

const mostTries = 5

export interface ReservedGuess extends TokenHolder {
  /** Empty: the token is GoTrue's. */
  readonly salt: Buffer
}

const slotNames = Object.keys(slots) as readonly TokenSlot[]

/** The token in a slot of `u`. The account's present mailbox has one only while another is to replace it. */
const slotValue = (slot: TokenSlot): string => {
  const { column, sent } = slots[slot]
  const token = slot === 'email_change_current' ? `case when u.email_change <> '' then u.${column} end` : `u.${column}`
  return `('${slot}', ${token}, u.${sent})`
}

/**
 * The pending tokens in some slots of the users that `whose` finds. The slots are not a parameter: Postgres would plan
 * the statement each time, in four times the time.
 */
const heldBy = (whose: string, among: readonly TokenSlot[]): string => `select u.id as user_id, s.slot, s.token, s.sent
    from (select u.* ${whose}) u cross join lateral (values ${among.map(slotValue).join(', ')}) s (slot, token, sent)
    where s.token <> ''`

/**
 * Reserves guesses of all codes in `held` by one statement, so that it takes as long without any. An imported code has
 * GoTrue's form and no secret part: an empty one, inserted here, represents it. The user is locked for that, and the
 * token read again under the lock: a code that was spent in between gets no row.
 */
const reserve = (name: string, held: string) =>
  statement<ReservedGuess>(
    `auth.codes.reserve-${name}`,
    `with held as materialized (
      ${held}
    ), taken as (
      update catalograph_auth.codes c set tries = c.tries + 1 from held h
      where c.user_id = h.user_id and c.slot = h.slot and c.tries < ${mostTries}
      returning c.user_id, c.slot, c.salt, c.issued_at
    ), imported as materialized (
      select h.* from held h join auth.users u on u.id = h.user_id
      where h.token in (${slotNames.map((slot) => `u.${slots[slot].column}`).join(', ')})
        and not exists (select from catalograph_auth.codes c where c.user_id = h.user_id and c.slot = h.slot)
      for no key update of u
    ), adopted as (
      insert into catalograph_auth.codes as c (user_id, slot, salt, tries, issued_at)
      select user_id, slot, '', 1, coalesce(sent, now()) from imported
      on conflict (user_id, slot) do update set tries = c.tries + 1 where c.tries < ${mostTries}
      returning c.user_id, c.slot, c.salt, c.issued_at
    )
    select t.user_id, t.slot, t.salt, h.token,
      extract(epoch from clock_timestamp() - t.issued_at)::float8 as issued_seconds_ago
    from (select * from taken union all select * from adopted) t
    join held h on h.user_id = t.user_id and h.slot = t.slot`,
  )

const ofUser = (slot: TokenSlot) =>
  reserve(`of-user.${slot}`, heldBy('from auth.users u where u.id = $1::uuid', [slot]))

const ofMailbox = (among: readonly TokenSlot[]) => reserve(`of-mailbox.${among.join('.')}`, heldBy(ofAddress, among))

/**
 * $2: lifetime of a code in seconds. Many accounts may request the address: each of their live codes may be the typed
 * one, and the cooldown and the ceiling of mails limit their number.
 */
const ofChange = reserve(
  'of-change',
  `${heldBy(ofAddress, ['email_change_current'])}
    union all
    select u.id, 'email_change_new', u.email_change_token_new, u.email_change_sent_at
    from auth.one_time_tokens o join auth.users u on u.id = o.user_id
    where o.relates_to = $1::text and o.token_type = 'email_change_token_new'
      and lower(u.email_change) = $1::text and u.email_change_token_new <> '' and u.deleted_at is null
      and u.email_change_sent_at > now() - $2::float8 * interval '1 second'`,
)

/** The possible codes of a typed one: those of one kind of mail, or of both kinds of type `email`. */
const guesses = {
  confirmation: ofMailbox(['confirmation']),
  recovery: ofMailbox(['recovery']),
  either: ofMailbox(['confirmation', 'recovery']),
  email_change: ofChange,
} as const

export type GuessedAt = keyof typeof guesses

const reserveIn = bySlot(ofUser)

/**
 * Reserves one of the five guesses of a user's code, and only then returns the value to compare with; null if none is
 * left or nothing is pending. Run it alone, never in a transaction that may be rolled back: a reserved guess stays
 * reserved.
 */
export const reserveGuess = async (run: RunStatement, userId: string, slot: TokenSlot): Promise<ReservedGuess | null> =>
  (await run(reserveIn[slot], [userId]))[0] ?? null

/** The same for every possible code of an address, in lower case, within its `lifetime` in seconds. */
export const reserveGuesses = (
  run: RunStatement,
  address: string,
  at: GuessedAt,
  lifetime: number,
): Promise<readonly ReservedGuess[]> => run(guesses[at], at === 'email_change' ? [address, lifetime] : [address])
