import type { AddressProof } from '../rules/linking.ts'
import { defineAction } from './define.ts'

/** Facts about accounts beyond their row: catalograph_auth.address_proofs and ambiguous_passwords. */

export const noteAddressProof = defineAction<[userId: string, proof: AddressProof]>(
  'auth.marks.prove',
  `insert into catalograph_auth.address_proofs (user_id, proof) values ($1, $2)
  on conflict (user_id) do update set proof = excluded.proof, proved_at = now()`,
)

/**
 * The account was signed up for with another password than its own (spec/auth.md 4.2); confirmed accounts are never
 * marked.
 */
export const markPasswordAmbiguous = defineAction<[userId: string]>(
  'auth.marks.mark-ambiguous',
  `insert into catalograph_auth.ambiguous_passwords (user_id)
  select id from auth.users where id = $1 and email_confirmed_at is null
  on conflict do nothing`,
)

/**
 * The same by address, for a repeated sign-up without the stored password. Recorded even if no mail may follow yet: the
 * link of the previous mail still confirms the account. The SQL form of hasWayIn in accounts/verification.ts.
 */
export const setPasswordAmbiguous = defineAction<[email: string, isSo: boolean]>(
  'auth.marks.doubt',
  `insert into catalograph_auth.ambiguous_passwords (user_id)
  select u.id from auth.users u
  where $2::boolean and lower(u.email::text) = $1 and u.email_confirmed_at is null
    and not u.is_sso_user and u.deleted_at is null
    and (coalesce(u.encrypted_password, '') <> ''
      or exists (select from auth.identities i where i.user_id = u.id and i.provider <> 'email'))
  on conflict do nothing`,
)
