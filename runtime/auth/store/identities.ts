import { statement, type RunStatement } from '../../db/statements.ts'
import type { JsonObject } from '../types.ts'

/** auth.identities. */

const insertEmail = statement<object>(
  'auth.identities.insert-email',
  `insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at,
    updated_at)
  values (gen_random_uuid(), $1::text, $1::uuid, $2, 'email', now(), now(), now())
  on conflict (provider_id, provider) do nothing`,
)

const verifyEmail = statement<object>(
  'auth.identities.verify-email',
  `update auth.identities set identity_data = identity_data || '{"email_verified": true}', updated_at = now()
  where user_id = $1 and provider = 'email'`,
)

/** Gives a user the identity of their address; one that they have stays as it is. */
export const ensureEmailIdentity = async (run: RunStatement, userId: string, data: JsonObject): Promise<void> =>
  void (await run(insertEmail, [userId, data]))

/** The identity of the address says from now on that it is verified. */
export const verifyEmailIdentity = async (run: RunStatement, userId: string): Promise<void> =>
  void (await run(verifyEmail, [userId]))
