import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { SessionRow, SignedSession, UserRow } from '../protocol/records.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import {
  asJson,
  mergeValues,
  objectIn,
  sessionColumns,
  signedColumns,
  userColumns,
  defineAction,
  defineJsonLookup,
  defineTest,
  defineList,
  defineLookup,
} from './define.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { AddressProof, AccountFacts } from '../rules/providers.ts'

/** auth.users. Softly deleted users do not exist for these statements; see admin-users.ts for the exception. */

/** Of a single project: all rows have this one, or null if they were inserted manually. */
export const instanceId = '00000000-0000-0000-0000-000000000000'

/** $1 is the address, in lower case. Imported ones may be in mixed case; ours take precedence. */
export const ofAddress = `from auth.users u
  where (u.instance_id = '${instanceId}' or u.instance_id is null)
    and lower(u.email::text) = $1 and not u.is_sso_user and u.deleted_at is null
  order by u.email = $1 desc, u.created_at limit 1`

type WithSession<S> = UserRow & { readonly session: S | null }

const withSession = <S>(name: string, columns: string) =>
  defineJsonLookup<WithSession<S>, [id: string, sessionId: string | null]>(
    name,
    asJson(`select ${userColumns},
      (select to_json(t) from (select ${columns} from auth.sessions s where s.id = $2 and s.user_id = u.id) t) as session
    from auth.users u where u.id = $1 and u.deleted_at is null`),
  )

const insert = statement<{ readonly id: string }>(
  'auth.users.insert',
  `insert into auth.users (instance_id, id, aud, role, email, encrypted_password, raw_app_meta_data, raw_user_meta_data,
    is_anonymous, confirmation_token, confirmation_sent_at, recovery_token, email_change_token_new, email_change,
    created_at, updated_at)
  select '${instanceId}', $1::uuid, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::boolean, $9::text,
    case when $9::text <> '' then now() end, '', '', '', now(), now()
  where $10::boolean
  returning id`,
)

interface NewUser {
  readonly id: string
  /** Absent: the default of the settings. */
  readonly role?: string
  readonly email: string | null
  readonly passwordHash: string | null
  readonly appMetadata: JsonObject
  readonly userMetadata: JsonObject
  readonly isAnonymous?: boolean
  /** Link token of the mailed confirmation; absent or empty: no mail. */
  readonly confirmationToken?: string
}

/** The owner's settings for every new user. */
export type UserSettings = Pick<AuthSettings, 'jwt_aud' | 'jwt_default_role'>

export const findUserById = defineJsonLookup<UserRow, [id: string]>(
  'auth.users.by-id',
  asJson(`select ${userColumns} from auth.users u where u.id = $1 and u.deleted_at is null`),
)

/** `email` in lower case. */
export const findUserByEmail = defineJsonLookup<UserRow, [email: string]>(
  'auth.users.by-email',
  asJson(`select ${userColumns} ${ofAddress}`),
)

/** The user and, if it belongs to the user, the session; `sessionId` null finds none. */
export const findUserWithSession = withSession<SessionRow>('auth.users.with-session', sessionColumns)

/** The same, with the methods of the session. */
export const findUserWithSignedSession = withSession<SignedSession>('auth.users.with-signed-session', signedColumns)

/**
 * One INSERT with everything that triggers of the owner may need (spec/auth.md 13). If unwanted, the same statement
 * inserts nothing.
 */
export const insertUser = async (
  run: RunStatement,
  user: NewUser,
  settings: UserSettings,
  wanted = true,
): Promise<void> => {
  await run(insert, [
    user.id,
    settings.jwt_aud,
    user.role ?? settings.jwt_default_role,
    user.email,
    user.passwordHash,
    user.appMetadata,
    user.userMetadata,
    user.isAnonymous ?? false,
    user.confirmationToken ?? '',
    wanted,
  ])
}

/** Locks the user until the transaction ends; false if it does not exist. */
export const lockUser = defineTest<[id: string]>(
  'auth.users.lock',
  'select id from auth.users where id = $1 for update',
)

/** The same, with the user's state under the lock; null: the user does not exist. */
export const findLockedUser = async (run: RunStatement, id: string): Promise<UserRow | null> => {
  const [, user] = await Promise.all([lockUser(run, id), findUserById(run, id)])
  return user
}

export const setPasswordHash = defineAction<[id: string, hash: string]>(
  'auth.users.set-password',
  `update auth.users set encrypted_password = $2, updated_at = now() where id = $1`,
)

/** From now on no password is right. */
export const dropPassword = defineAction<[id: string]>(
  'auth.users.drop-password',
  'update auth.users set encrypted_password = null, updated_at = now() where id = $1',
)

export const replaceUserMetadata = defineAction<[id: string, data: JsonObject]>(
  'auth.users.set-user-data',
  'update auth.users set raw_user_meta_data = $2, updated_at = now() where id = $1',
)

/** Replaces a hash by another of the same password, unless the password was changed since. */
export const replaceHash = defineAction<[id: string, old: string, hash: string]>(
  'auth.users.rehash',
  `update auth.users set encrypted_password = $3 where id = $1 and encrypted_password = $2`,
)

/** Voids every pending code and link of the user, and the change of address; see clearOneTimeTokens for copies. */
export const clearUserTokens = defineAction<[id: string]>(
  'auth.users.clear-tokens',
  `update auth.users set confirmation_token = '', recovery_token = '', email_change_token_new = '',
    email_change_token_current = '', reauthentication_token = '', email_change = '', email_change_confirm_status = 0,
    updated_at = now() where id = $1`,
)

/** Merges keys into the metadata; a key with null is removed (spec/auth.md 5.2). */
export const mergeUserMetadata = defineAction<[id: string, data: JsonObject]>(
  'auth.users.merge-user-data',
  `update auth.users set raw_user_meta_data = (${objectIn('raw_user_meta_data')} || $2::jsonb) - $3::text[],
    updated_at = now() where id = $1`,
  (id, data) => [id, ...mergeValues(data)],
)

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
