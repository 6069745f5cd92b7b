import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { bySlot, slots, type TokenHolder, type TokenSlot } from './one-time-tokens.ts'
import { ofAddress } from './users.ts'

/** catalograph_auth.codes: guesses of mailed codes (spec/auth.md 9.2). */

const mostTries = 5

/** One guess of one code, taken. */
export interface ReservedGuess extends TokenHolder {
  /** Empty: the token is GoTrue's. */
  readonly salt: Buffer
}

const slotNames = Object.keys(slots) as readonly TokenSlot[]

/** What a slot of `u` holds. The mailbox that an account has is asked only while another is to take its place. */
const slotValue = (slot: TokenSlot): string => {
  const { column, sent } = slots[slot]
  const token = slot === 'email_change_current' ? `case when u.email_change <> '' then u.${column} end` : `u.${column}`
  return `('${slot}', ${token}, u.${sent})`
}

/**
 * The pending tokens in some slots of the users that `whose` finds. The slots are no parameter: Postgres would plan the
 * statement each time, in four times the time.
 */
const heldBy = (whose: string, among: readonly TokenSlot[]): string => `select u.id as user_id, s.slot, s.token, s.sent
    from (select u.* ${whose}) u cross join lateral (values ${among.map(slotValue).join(', ')}) s (slot, token, sent)
    where s.token <> ''`

/**
 * Takes the guesses of all codes in `held` by one statement, so that it takes as long where there is none. What came
 * with an imported project has its code in GoTrue's form and no secret part: an empty one stands for that, made here.
 * The user is locked for it, and the token looked at again under the lock: a code that is spent meanwhile gets no row.
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
 * $2: seconds that a code lives. Many accounts may want the address: each code of them that lives is one that it may be,
 * and the cooldown and the ceiling of mails bound how many do.
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

/** What a typed code can be for: the codes of one kind of mail, or of both kinds that `email` stands for. */
const guesses = {
  confirmation: ofMailbox(['confirmation']),
  recovery: ofMailbox(['recovery']),
  either: ofMailbox(['confirmation', 'recovery']),
  email_change: ofChange,
} as const

export type GuessedAt = keyof typeof guesses

const reserveIn = bySlot(ofUser)

/**
 * Takes one of the five guesses of a user's code, and only then returns what to compare with; null when none is left or
 * nothing is pending. Run it by itself, never in a transaction that may be rolled back: a guess that was taken stays
 * taken.
 */
export const reserveGuess = async (run: RunStatement, userId: string, slot: TokenSlot): Promise<ReservedGuess | null> =>
  (await run(reserveIn[slot], [userId]))[0] ?? null

/** The same of every code that may have gone to an address, in lower case, within its `lifetime` in seconds. */
export const reserveGuesses = (
  run: RunStatement,
  address: string,
  at: GuessedAt,
  lifetime: number,
): Promise<readonly ReservedGuess[]> => run(guesses[at], at === 'email_change' ? [address, lifetime] : [address])
