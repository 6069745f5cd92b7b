import type { AccountFacts } from '../rules/linking.ts'
import { instanceId } from './users.ts'
import { defineAction, defineList, defineLookup } from './define.ts'

/** The statements of account linking (spec/auth.md 6.5). */

const facts = `u.id, lower(nullif(u.email, '')) as email, u.email_confirmed_at is not null as confirmed,
    (select p.proof from catalograph_auth.address_proofs p where p.user_id = u.id) as proof,
    coalesce(u.banned_until > now(), false) as banned`

/** The locked account of an identity; null: none. */
export const findIdentityOwner = defineLookup<AccountFacts, [provider: string, subject: string]>(
  'auth.linking.owner',
  `select ${facts} from auth.identities i join auth.users u on u.id = i.user_id
  where i.provider = $1 and i.provider_id = $2 and u.deleted_at is null for update of u`,
)

/** All accounts with an address, locked. */
export const findAccountsByAddress = defineList<AccountFacts, [email: string]>(
  'auth.linking.by-address',
  `select ${facts} from auth.users u
  where (u.instance_id = '${instanceId}' or u.instance_id is null) and lower(u.email::text) = $1
    and not u.is_sso_user and u.deleted_at is null
  order by u.id for update of u`,
)

/** Removes a stranger's ways into an account: password, factors, a pending change of address. */
export const purgeAccount = defineAction<[userId: string]>(
  'auth.linking.purge',
  `with factors as (delete from auth.mfa_factors where user_id = $1::uuid)
  update auth.users set encrypted_password = null, email_change = '', email_change_confirm_status = 0,
    phone_change = '', phone_change_token = '', updated_at = now()
  where id = $1::uuid`,
)

/** A user with an identity is not a guest. */
export const endGuestState = defineAction<[userId: string]>(
  'auth.linking.end-guest',
  'update auth.users set is_anonymous = false, updated_at = now() where id = $1 and is_anonymous',
)
