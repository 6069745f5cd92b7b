import type { RunStatement } from '../../db/pool/statements.ts'
import { defineAction, defineLookup, defineTest } from './define.ts'

/** auth.one_time_tokens, the copy of the token columns of auth.users, and the secret part of codes beside them. */

/** Slots of a user that hold one pending token each; mails of different slots are independent. */
export const slots = {
  confirmation: { column: 'confirmation_token', sent: 'confirmation_sent_at' },
  recovery: { column: 'recovery_token', sent: 'recovery_sent_at' },
  email_change_new: { column: 'email_change_token_new', sent: 'email_change_sent_at' },
  email_change_current: { column: 'email_change_token_current', sent: 'email_change_sent_at' },
  reauthentication: { column: 'reauthentication_token', sent: 'reauthentication_sent_at' },
} as const

export type TokenSlot = keyof typeof slots

const slotNames = Object.keys(slots) as readonly TokenSlot[]

export const bySlot = <T>(make: (slot: TokenSlot) => T): Readonly<Record<TokenSlot, T>> =>
  Object.fromEntries(slotNames.map((slot) => [slot, make(slot)])) as Record<TokenSlot, T>

/** Two of the table's columns have no zone. */
const utc = `now() at time zone 'utc'`

/** $1 user, $2 token, $3 address, $4 salt. The count of guesses begins at zero with each token. */
const put = bySlot((slot) =>
  defineAction<[userId: string, token: string, address: string, salt: Buffer]>(
    `auth.one-time-tokens.put.${slot}`,
    `with noted as (
      update auth.users set ${slots[slot].column} = $2::text, ${slots[slot].sent} = now(), updated_at = now()
      where id = $1::uuid and ${slots[slot].column} is distinct from $2::text
    ), copied as (
      insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
      values (gen_random_uuid(), $1::uuid, '${slots[slot].column}', $2::text, $3, ${utc}, ${utc})
      on conflict (user_id, token_type) do update set token_hash = excluded.token_hash,
        relates_to = excluded.relates_to, created_at = excluded.created_at, updated_at = excluded.updated_at
    )
    insert into catalograph_auth.codes (user_id, slot, salt, tries, issued_at)
    values ($1::uuid, '${slot}', $4, 0, now())
    on conflict (user_id, slot) do update set salt = excluded.salt, tries = 0, issued_at = excluded.issued_at`,
  ),
)

const clear = bySlot((slot) =>
  defineAction<[userId: string]>(
    `auth.one-time-tokens.clear.${slot}`,
    `with noted as (
      update auth.users set ${slots[slot].column} = '', updated_at = now() where id = $1
    ), copied as (
      delete from auth.one_time_tokens where user_id = $1 and token_type = '${slots[slot].column}'
    )
    delete from catalograph_auth.codes where user_id = $1 and slot = '${slot}'`,
  ),
)

/** Found and spent by one statement: of two concurrent calls one gets no row. */
const spend = bySlot((slot) =>
  defineTest<[userId: string, token: string]>(
    `auth.one-time-tokens.spend.${slot}`,
    `with spent as (
        update auth.users set ${slots[slot].column} = '', updated_at = now()
        where id = $1::uuid and ${slots[slot].column} = $2::text and $2::text <> '' returning id
      ), copied as (
        delete from auth.one_time_tokens o using spent
        where o.user_id = spent.id and o.token_type = '${slots[slot].column}'
      ), counted as (
        delete from catalograph_auth.codes c using spent where c.user_id = spent.id and c.slot = '${slot}'
      )
      select id from spent`,
  ),
)

export interface PendingToken {
  readonly slot: TokenSlot
  readonly userId: string
  /** With its prefix if the mail belongs to a PKCE flow. */
  readonly token: string
  readonly address: string
  readonly salt: Buffer
}

/** Replaces the token in a slot; the user's row is not updated if it was inserted with it. */
export const putOneTimeToken = (
  run: RunStatement,
  { slot, userId, token, address, salt }: PendingToken,
): Promise<void> => put[slot](run, userId, token, address, salt)

/** Spends a pending token; false if the slot does not hold it any more. */
export const spendOneTimeToken = (
  run: RunStatement,
  userId: string,
  slot: TokenSlot,
  token: string,
): Promise<boolean> => spend[slot](run, userId, token)

export const clearOneTimeToken = (run: RunStatement, userId: string, slot: TokenSlot): Promise<void> =>
  clear[slot](run, userId)

/** Removes the copies of all tokens of a user; see clearUserTokens for the columns. */
export const clearOneTimeTokens = defineAction<[userId: string]>(
  'auth.one-time-tokens.clear-all',
  `with copied as (delete from auth.one_time_tokens where user_id = $1)
  delete from catalograph_auth.codes where user_id = $1`,
)

export interface TokenHolder {
  readonly user_id: string
  readonly slot: TokenSlot
  /** In stored form: with the prefix `pkce_` if the mail belongs to such a flow. */
  readonly token: string
  readonly issued_seconds_ago: number
}

const slotOfType = `case o.token_type::text ${slotNames
  .map((slot) => `when '${slots[slot].column}' then '${slot}'`)
  .join(' ')} end`

/**
 * The owner of a link among those of some slots; `token` without its prefix. Only our own tokens have a secret part:
 * anyone could compute GoTrue's (spec/auth.md, attack 10).
 */
export const findTokenHolder = defineLookup<TokenHolder, [token: string, prefix: string, among: readonly TokenSlot[]]>(
  'auth.one-time-tokens.holder',
  `select o.user_id, c.slot, o.token_hash as token,
    extract(epoch from clock_timestamp() - c.issued_at)::float8 as issued_seconds_ago
  from auth.one_time_tokens o
  join catalograph_auth.codes c on c.user_id = o.user_id and c.slot = ${slotOfType}
  where o.token_hash in ($1::text, $2::text) and c.slot = any ($3) and c.salt <> ''`,
  (token, prefix, among) => [token, prefix + token, among],
)
