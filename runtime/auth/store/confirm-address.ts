import type { AddressProof } from '../rules/linking.ts'
import { objectIn } from './user-columns.ts'
import { defineTest } from './define.ts'

/**
 * Confirms the address, ends its pending confirmation, and records the proof. True if sign-ups had different passwords:
 * the flag is cleared, and the password must be replaced. All confirmations of an address use this statement; it locks
 * the user first.
 */
export const confirmUser = defineTest<[userId: string, proof: AddressProof]>(
  'auth.confirm-address',
  `with confirmed as (
    update auth.users set email_confirmed_at = now(), confirmation_token = '', is_anonymous = false, updated_at = now(),
      raw_user_meta_data = case when is_anonymous or raw_user_meta_data ? 'email_verified'
        then ${objectIn('raw_user_meta_data')} || '{"email_verified": true}' else raw_user_meta_data end
    where id = $1::uuid returning id
  ), verified as (
    update auth.identities set identity_data = identity_data || '{"email_verified": true}', updated_at = now()
    where user_id = $1::uuid and provider = 'email'
  ), copied as (
    delete from auth.one_time_tokens where user_id = $1::uuid and token_type = 'confirmation_token'
  ), counted as (
    delete from catalograph_auth.codes where user_id = $1::uuid and slot = 'confirmation'
  ), proved as (
    insert into catalograph_auth.address_proofs (user_id, proof) values ($1::uuid, $2)
    on conflict (user_id) do update set proof = excluded.proof, proved_at = now()
  )
  delete from catalograph_auth.ambiguous_passwords a using confirmed where a.user_id = confirmed.id returning a.user_id`,
)
