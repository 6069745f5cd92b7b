import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { SessionRow, SignedSession, UserRow } from '../protocol/records.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { asJson, mergeValues, objectIn, sessionColumns, signedColumns, userColumns } from './user-columns.ts'
import type { JsonObject } from '../../lib/json.ts'
import { defineAction, defineJsonLookup, defineTest } from './define.ts'

/** auth.users. Softly deleted users do not exist for these statements; see admin-users.ts for the exception. */

/** Of a single project: all rows have this one, or null if they were inserted manually. */
export const instanceId = '00000000-0000-0000-0000-000000000000'

/** $1 is the address, in lower case. Imported ones may be in mixed case; ours take precedence. */
export const ofAddress = `from auth.users u
  where (u.instance_id = '${instanceId}' or u.instance_id is null)
    and lower(u.email::text) = $1 and not u.is_sso_user and u.deleted_at is null
  order by u.email = $1 desc, u.created_at limit 1`

/** A user, and the session if it belongs to the user. */
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

export interface NewUser {
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
