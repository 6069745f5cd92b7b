import { type AdminCall, checkedEmail, checkNewPassword } from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { isHash } from '../../secrets/algorithms.ts'
import { isUuid } from '../../protocol/input.ts'
import { durationSeconds } from '../../rules/duration.ts'
import { isTooLong } from '../../rules/credentials.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import type { JsonObject } from '../../../lib/json.ts'

/** An administrator's input for an account (spec/auth.md 11); null: absent. */
export interface AdminUserInput {
  readonly id: string | null
  readonly email: string | null
  readonly password: string | null
  readonly passwordHash: string | null
  readonly emailConfirm: boolean
  readonly userMetadata: JsonObject | null
  readonly appMetadata: JsonObject | null
  readonly role: string | null
  readonly ban: Ban | null
}

/** Seconds from now; null lifts a ban. */
export interface Ban {
  readonly seconds: number | null
}

/** Throws 400 and 422 as spec/auth.md 11 lists them. `create` only limits passwords to 72 bytes, as GoTrue does. */
export function readAdminUser(
  call: AdminCall<typeof io.createUser> | AdminCall<typeof io.updateUser>,
  act: 'create' | 'update',
): AdminUserInput {
  const { body } = call
  const { email = '', phone = '' } = body
  if (act === 'create' && email === '' && phone === '') {
    throw refuse('validation_failed', 'Cannot create a user without either an email or phone')
  }
  const checked = email === '' ? null : checkedEmail(email)
  if (phone !== '') throw refuse('phone_provider_disabled')
  return {
    id: 'id' in body ? readId(body.id) : null,
    email: checked,
    ...readPasswords(call, act),
    emailConfirm: body.email_confirm ?? false,
    userMetadata: body.user_metadata ?? null,
    appMetadata: body.app_metadata ?? null,
    role: readRole(body.role),
    ban: readBan(body.ban_duration),
  }
}

function readId(id = ''): string | null {
  if (id === '') return null
  if (!isUuid(id)) throw refuse('validation_failed', 'ID must conform to the uuid v4 format')
  if (/^[0-]+$/.test(id)) throw refuse('validation_failed', 'ID cannot be a nil uuid')
  return id.toLowerCase()
}

/** Of columns `role` and `encrypted_password` (spec/auth.md 13); Postgres limits role names besides. */
const longestRole = 63
const longestHash = 255

function readPasswords(
  { body, settings }: AdminCall<typeof io.updateUser>,
  act: 'create' | 'update',
): Pick<AdminUserInput, 'password' | 'passwordHash'> {
  // An account may be created without a password; a password cannot be removed.
  const password = act === 'update' ? (body.password ?? null) : body.password || null
  const passwordHash = body.password_hash || null
  if (password !== null && passwordHash !== null) {
    throw refuse('validation_failed', 'Only a password or a password hash should be provided')
  }
  if (password !== null && act === 'update') checkNewPassword(password, settings)
  if (password !== null && isTooLong(password)) {
    throw refuse('validation_failed', 'Password cannot be longer than 72 characters')
  }
  if (passwordHash !== null && (passwordHash.length > longestHash || !isHash(passwordHash))) {
    throw refuse('validation_failed', 'The password hash must be one of bcrypt, Argon2 or Firebase scrypt')
  }
  return { password, passwordHash }
}

function readRole(given = ''): string | null {
  const role = given || null
  if (role !== null && Buffer.byteLength(role) > longestRole) throw refuse('validation_failed', 'The role is too long')
  return role
}

function readBan(text = ''): Ban | null {
  if (text === '') return null
  if (text === 'none') return { seconds: null }
  const seconds = durationSeconds(text)
  if (seconds === null) throw refuse('validation_failed', 'ban_duration must be a duration such as 24h, or none')
  return { seconds }
}

/** The hash to store; null: none given. */
export async function hashOf(
  { passwords }: AuthTools,
  { password, passwordHash }: Pick<AdminUserInput, 'password' | 'passwordHash'>,
): Promise<string | null> {
  return password === null ? passwordHash : passwords.hash(password)
}
