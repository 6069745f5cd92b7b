import type { JsonObject } from '../../lib/json.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { UserRow } from '../protocol/records.ts'
import { listLength, asJson, mergeValues, objectIn, userColumns, defineAction, defineJsonLookup } from './define.ts'

export interface UserPage {
  /** Part of an address or of a full name; empty: all users. */
  readonly filter: string
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

/** $1: a text to search for, ignoring case; its characters have no special meaning. */
const listed = `u.deleted_at is null and ($1::text = '' or position(lower($1) in lower(coalesce(u.email, ''))) > 0
    or position(lower($1) in lower(coalesce(u.raw_user_meta_data ->> 'full_name', ''))) > 0)`

const countAll = statement<{ readonly total: number }>(
  'auth.admin-users.count',
  listLength('auth.users', 'deleted_at is null'),
)

const countListed = statement<{ readonly total: number }>(
  'auth.admin-users.count-listed',
  `select count(*)::int as total from auth.users u where ${listed}`,
)

/** The ids of a page are found first: the parts of a user are read for those only. */
const pageIn = (order: 'asc' | 'desc') =>
  statement<UserRow>(
    `auth.admin-users.page.${order}`,
    `select ${userColumns} from (
      select u.id as page_id from auth.users u where ${listed}
      order by u.created_at ${order}, u.id ${order} limit $2::bigint offset $3::bigint
    ) page join auth.users u on u.id = page.page_id
    order by u.created_at ${order}, u.id ${order}`,
  )

const pages = { asc: pageIn('asc'), desc: pageIn('desc') }

/** Imported tokens may belong to no session; the others are deleted with theirs, whose row a refresh locks first. */
const strayTokens = 'delete from auth.refresh_tokens where user_id = $1::uuid::text and session_id is null'

/** Flows have no foreign key to users. */
const flows = 'delete from auth.flow_state where user_id = $1::uuid or linking_target_id = $1::uuid'

/** Salted, so that the address cannot be found by trying addresses. */
const hashed = (text: string): string => `encode(sha256(convert_to(gen_random_uuid()::text || ${text}, 'UTF8')), 'hex')`

export const countUsers = async (run: RunStatement, filter: string): Promise<number> =>
  (await (filter === '' ? run(countAll) : run(countListed, [filter])))[0]?.total ?? 0

export const readUserPage = (run: RunStatement, page: UserPage): Promise<readonly UserRow[]> =>
  run(pages[page.order], [page.filter, page.limit, page.offset])

/** A user of that id, also a softly deleted one: the rest explains rows that refer to it. */
export const findUserOrDeleted = defineJsonLookup<UserRow, [id: string]>(
  'auth.admin-users.by-id',
  asJson(`select ${userColumns} from auth.users u where u.id = $1`),
)

export const setUserRole = defineAction<[id: string, role: string]>(
  'auth.admin-users.set-role',
  'update auth.users set role = $2, updated_at = now() where id = $1',
)

/** `seconds` null ends the ban. */
export const setUserBan = defineAction<[id: string, seconds: number | null]>(
  'auth.admin-users.set-ban',
  "update auth.users set banned_until = now() + $2::float8 * interval '1 second', updated_at = now() where id = $1",
)

/** Merges keys into `app_metadata`; a key with null is removed. */
export const mergeAppMetadata = defineAction<[id: string, data: JsonObject]>(
  'auth.admin-users.merge-app-data',
  `update auth.users set raw_app_meta_data = (${objectIn('raw_app_meta_data')} || $2::jsonb) - $3::text[],
    updated_at = now() where id = $1`,
  (id, data) => [id, ...mergeValues(data)],
)

/** Sets an address without confirmation; its confirmed state is unchanged. A pending change of address is void. */
export const setUserEmail = defineAction<[id: string, email: string]>(
  'auth.admin-users.set-email',
  `update auth.users set email = $2, email_change = '', email_change_confirm_status = 0, updated_at = now()
  where id = $1`,
)

/** Records the invitation of the user. */
export const markInvited = defineAction<[id: string]>(
  'auth.admin-users.invite',
  'update auth.users set invited_at = now(), updated_at = now() where id = $1',
)

/** Removes the user, with all rows that refer to it by cascade. */
export const deleteUserForGood = defineAction<[id: string]>(
  'auth.admin-users.delete',
  `with tokens as (${strayTokens}),
  flows as (${flows})
  delete from auth.users where id = $1::uuid`,
)

/** Hides the user permanently. The row stays for the rows that refer to it; it contains no personal data. */
export const deleteUserSoftly = defineAction<[id: string]>(
  'auth.admin-users.soft-delete',
  `with sessions as (delete from auth.sessions where user_id = $1::uuid),
  strays as (${strayTokens}),
  factors as (delete from auth.mfa_factors where user_id = $1::uuid),
  tokens as (delete from auth.one_time_tokens where user_id = $1::uuid),
  codes as (delete from catalograph_auth.codes where user_id = $1::uuid),
  devices as (delete from catalograph_auth.user_devices where user_id = $1::uuid),
  flows as (${flows}),
  identities as (
    update auth.identities set provider_id = ${hashed('provider_id')}, identity_data = '{}', updated_at = now()
    where user_id = $1::uuid
  )
  update auth.users set deleted_at = now(), updated_at = now(), encrypted_password = null,
    email = case when email <> '' then ${hashed('email')} end,
    phone = case when phone <> '' then ${hashed('phone')} end,
    email_change = '', phone_change = '', confirmation_token = '', recovery_token = '', email_change_token_new = '',
    email_change_token_current = '', phone_change_token = '', reauthentication_token = '',
    raw_user_meta_data = '{}', raw_app_meta_data = '{}'
  where id = $1::uuid and deleted_at is null`,
)
