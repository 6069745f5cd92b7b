import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { ChangeMailbox } from '../rules/email.ts'
import { objectIn, defineAction, defineLookup, defineValue } from './define.ts'
import { instanceId } from './users.ts'

/** Pending changes of addresses (spec/auth.md 5.4). */

const changeSlots: readonly ChangeMailbox[] = ['email_change_new', 'email_change_current']

const slotsOf = statement<{ readonly fresh: boolean; readonly present: boolean }>(
  'auth.email-changes.slots',
  `select coalesce(email_change_token_new, '') <> '' as fresh, coalesce(email_change_token_current, '') <> '' as present
  from auth.users where id = $1`,
)

export const beginChange = defineAction<[userId: string, email: string]>(
  'auth.email-changes.begin',
  `update auth.users set email_change = $2, email_change_confirm_status = 0, updated_at = now() where id = $1`,
)

export const noteFirstConfirmation = defineAction<[userId: string, slot: ChangeMailbox]>(
  'auth.email-changes.note-first',
  `with changing as (
    update auth.users set email_change_confirm_status = 1, updated_at = now() where id = $1 returning id, email_change
  )
  insert into catalograph_auth.change_confirmations (user_id, slot, email)
  select id, $2, email_change from changing
  on conflict (user_id) do update set slot = excluded.slot, email = excluded.email`,
)

export const confirmedSlot = defineValue<ChangeMailbox, [userId: string]>(
  'auth.email-changes.confirmation',
  `select c.slot from catalograph_auth.change_confirmations c join auth.users u on u.id = c.user_id
  where u.id = $1 and u.email_change_confirm_status = 1 and u.email_change = c.email`,
  'slot',
)

export const pendingChangeSlots = async (run: RunStatement, userId: string): Promise<readonly ChangeMailbox[]> => {
  const [row] = await run(slotsOf, [userId])
  const waiting = { email_change_new: row?.fresh === true, email_change_current: row?.present === true }
  return changeSlots.filter((slot) => waiting[slot])
}

/** The account with a pending change to an address: of several, the last one that requested it. */
export const findUserWithPendingAddress = defineValue<string, [email: string]>(
  'auth.email-changes.with-address',
  `select o.user_id from auth.one_time_tokens o join auth.users u on u.id = o.user_id
  where o.relates_to = $1::text and o.token_type = 'email_change_token_new' and lower(u.email_change) = $1::text
    and u.deleted_at is null
  order by o.updated_at desc limit 1`,
  'user_id',
)

/**
 * Sets the account's confirmed address; a guest becomes a user. One UPDATE with everything that triggers of the owner
 * may need (spec/auth.md 13). Old links end with the old address.
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

/**
 * Takes an address from an account that never confirmed it, for the one that proves the mailbox (spec/auth.md 5.4). The
 * row stays for the rows that refer to it. Null: there is none; an invited account keeps its address.
 */
export const releaseAddress = defineLookup<{ readonly id: string }, [email: string, winner: string]>(
  'auth.email-changes.release',
  `with lost as (
    update auth.users u set email = null, encrypted_password = null, email_change = '', email_change_confirm_status = 0,
      confirmation_token = '', recovery_token = '', email_change_token_new = '', email_change_token_current = '',
      reauthentication_token = '', updated_at = now()
    where (u.instance_id = '${instanceId}' or u.instance_id is null) and lower(u.email::text) = $1 and u.id <> $2
      and u.email_confirmed_at is null and u.invited_at is null and not u.is_sso_user and u.deleted_at is null
    returning u.id
  ), identities as (
    delete from auth.identities i using lost where i.user_id = lost.id and i.provider = 'email'
  ), copied as (
    delete from auth.one_time_tokens o using lost where o.user_id = lost.id
  ), counted as (
    delete from catalograph_auth.codes c using lost where c.user_id = lost.id
  )
  select id from lost`,
)
