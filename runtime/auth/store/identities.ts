import { createHash } from 'node:crypto'
import type { JsonObject } from '../../lib/json.ts'
import { defineAction, defineTest } from './define.ts'

/** auth.identities. */

/** Gives a user the identity of their address; an existing one is unchanged. Unwanted, it changes nothing. */
export const ensureEmailIdentity = defineAction<[userId: string, data: JsonObject, wanted?: boolean]>(
  'auth.identities.insert-email',
  `insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at,
    updated_at)
  select gen_random_uuid(), $1::text, $1::uuid, $2::jsonb, 'email', now(), now(), now() where $3::boolean
  on conflict (provider_id, provider) do nothing`,
  (userId, data, wanted = true) => [userId, data, wanted],
)

/** Sets the address of the address's identity, which is created if missing. */
export const setEmailIdentity = defineAction<[userId: string, data: JsonObject]>(
  'auth.identities.set-email',
  `insert into auth.identities as i (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at,
    updated_at)
  values (gen_random_uuid(), $1::text, $1::uuid, $2, 'email', now(), now(), now())
  on conflict (provider_id, provider) do update set identity_data = i.identity_data || excluded.identity_data,
    updated_at = now()`,
)

interface ProviderIdentity {
  readonly userId: string
  readonly provider: string
  /** The provider's own id of the person. */
  readonly subject: string
  readonly data: JsonObject
}

/** Gives a user the identity of a provider, or renews its data; never takes it from another user. */
export const putProviderIdentity = defineAction<[identity: ProviderIdentity]>(
  'auth.identities.put-provider',
  `insert into auth.identities as i (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at,
    updated_at)
  values (gen_random_uuid(), $3, $1, $4, $2, now(), now(), now())
  on conflict (provider_id, provider) do update set identity_data = excluded.identity_data, last_sign_in_at = now(),
    updated_at = now() where i.user_id = excluded.user_id`,
  ({ userId, provider, subject, data }) => [userId, provider, subject, data],
)

export const deleteOtherIdentities = defineAction<[userId: string, provider: string, subject: string]>(
  'auth.identities.delete-other-than',
  'delete from auth.identities where user_id = $1 and (provider, provider_id) <> ($2::text, $3::text)',
)

/** Removes all identities of a user except that of their address. */
export const deleteProviderIdentities = defineAction<[userId: string]>(
  'auth.identities.delete-providers',
  `delete from auth.identities where user_id = $1 and provider <> 'email'`,
)

/** False: the user has no such identity. */
export const deleteIdentity = defineTest<[userId: string, id: string]>(
  'auth.identities.delete-one',
  'delete from auth.identities where user_id = $1 and id = $2 returning id',
)

/** catalograph_auth.used_id_tokens: presented ID tokens, until they expire (spec/auth.md 4.7). */

/** False for a token that was used before. Only its signed text counts: a signature may be written in many ways. */
export const useIdToken = defineTest<[token: string, expires: number]>(
  'auth.used-id-tokens.insert',
  `insert into catalograph_auth.used_id_tokens (token_hash, expires_at) values ($1, to_timestamp($2))
  on conflict do nothing returning 1`,
  (token, expires) => [
    createHash('sha256')
      .update(token.slice(0, token.lastIndexOf('.')))
      .digest(),
    expires,
  ],
)
