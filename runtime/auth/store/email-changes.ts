import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { TokenSlot } from './one-time-tokens.ts'
import { objectIn } from './user-columns.ts'
import { defineAction } from './define.ts'

/** Changes of addresses that wait to be confirmed (spec/auth.md 5.4). */

export type ChangeSlot = Extract<TokenSlot, 'email_change_new' | 'email_change_current'>

const changeSlots: readonly ChangeSlot[] = ['email_change_new', 'email_change_current']

const slotsOf = statement<{ readonly fresh: boolean; readonly present: boolean }>(
  'auth.email-changes.slots',
  `select coalesce(email_change_token_new, '') <> '' as fresh, coalesce(email_change_token_current, '') <> '' as present
  from auth.users where id = $1`,
)

/** Many may want the same address. */
const withAddress = statement<{ readonly user_id: string }>(
  'auth.email-changes.with-address',
  `select o.user_id from auth.one_time_tokens o join auth.users u on u.id = o.user_id
  where o.relates_to = $1::text and o.token_type = 'email_change_token_new' and lower(u.email_change) = $1::text
    and u.deleted_at is null
  order by o.updated_at desc limit 1`,
)

/** Stores the requested address of the account. */
export const beginChange = defineAction<[userId: string, email: string]>(
  'auth.email-changes.begin',
  `update auth.users set email_change = $2, email_change_confirm_status = 0, updated_at = now() where id = $1`,
)

/** One of two mailboxes has confirmed. */
export const noteFirstConfirmation = defineAction<[userId: string]>(
  'auth.email-changes.note-first',
  'update auth.users set email_change_confirm_status = 1, updated_at = now() where id = $1',
)

/** The mailboxes that still have to confirm. */
export const pendingChangeSlots = async (run: RunStatement, userId: string): Promise<readonly ChangeSlot[]> => {
  const [row] = await run(slotsOf, [userId])
  const waiting = { email_change_new: row?.fresh === true, email_change_current: row?.present === true }
  return changeSlots.filter((slot) => waiting[slot])
}

/** The account with a pending change to an address: the one that requested it last. */
export const findUserWithPendingAddress = async (run: RunStatement, email: string): Promise<string | null> =>
  (await run(withAddress, [email]))[0]?.user_id ?? null

/**
 * Sets the account's address, confirmed; a guest becomes a user. One UPDATE with all that triggers of the owner may
 * want to see (spec/auth.md 13). Old links die with the old address.
 */
export const setConfirmedAddress = defineAction<[userId: string, email: string]>(
  'auth.email-changes.finish',
  `update auth.users set email = $2::text, email_confirmed_at = now(), is_anonymous = false,
    email_change = '', email_change_confirm_status = 0, email_change_token_new = '', email_change_token_current = '',
    confirmation_token = '', recovery_token = '', reauthentication_token = '', updated_at = now(),
    raw_user_meta_data = case when raw_user_meta_data ? 'email'
      then raw_user_meta_data || jsonb_build_object('email', $2::text, 'email_verified', true)
      when is_anonymous then ${objectIn('raw_user_meta_data')} || '{"email_verified": true}'
      else raw_user_meta_data end,
    raw_app_meta_data = ${objectIn('raw_app_meta_data')} || jsonb_build_object(
      'provider', coalesce(raw_app_meta_data ->> 'provider', 'email'),
      'providers', case when coalesce(raw_app_meta_data -> 'providers', '[]') ? 'email'
        then raw_app_meta_data -> 'providers'
        else coalesce(raw_app_meta_data -> 'providers', '[]') || '["email"]' end)
  where id = $1`,
)
