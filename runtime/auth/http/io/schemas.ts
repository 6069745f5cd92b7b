import { authErrors } from '../../protocol/errors.ts'
import { exactly, flag, list, named, object, oneOf, text } from './build.ts'
import type { Schema } from './types.ts'

/** Objects that several endpoints answer with (spec/auth.md 3), by the names that `named` refers to. */

const time: Schema = { type: 'string', format: 'date-time' }
const id: Schema = { type: 'string', format: 'uuid' }
const seconds = (description: string): Schema => ({ type: 'integer', description: `${description}, Unix seconds` })

/** What an account says of itself before its address is confirmed is less than this. */
export const userMembers = {
  id,
  aud: text('Audience'),
  role: text('Database role'),
  'email?': text('Absent where a user has none'),
  phone: text('Always empty'),
  'email_confirmed_at?': time,
  'phone_confirmed_at?': time,
  'confirmed_at?': time,
  'invited_at?': time,
  'confirmation_sent_at?': time,
  'recovery_sent_at?': time,
  'new_email?': text('An address that waits to be confirmed'),
  'email_change_sent_at?': time,
  'new_phone?': text('Of restored data alone'),
  'phone_change_sent_at?': time,
  'reauthentication_sent_at?': time,
  'last_sign_in_at?': time,
  app_metadata: object('What the project says of the user'),
  user_metadata: object('What the user says of himself or herself'),
  'factors?': list(named('Factor')),
  identities: list(named('Identity')),
  'created_at?': time,
  'updated_at?': time,
  'banned_until?': time,
  'deleted_at?': time,
  is_anonymous: flag('True for guests'),
}

const weakPassword = exactly({
  'message?': text('For people'),
  reasons: list(oneOf('What is missing', 'length', 'characters', 'pwned')),
})

/** The two shapes that X-Supabase-Api-Version chooses between (spec/auth.md 2.4). */
const error = exactly({
  code: { type: 'integer', description: 'The HTTP status' },
  error_code: named('ErrorCode'),
  msg: text('For people'),
  'weak_password?': weakPassword,
  'error_id?': text('The request, as the log knows it'),
})

const error20240101 = exactly({
  code: named('ErrorCode'),
  message: text('For people'),
  'weak_password?': weakPassword,
})

export const schemas = {
  User: exactly(userMembers),
  Identity: exactly({
    identity_id: id,
    id: text("The provider's id of the person"),
    user_id: id,
    'identity_data?': object('What the provider says'),
    provider: text('email or google'),
    'last_sign_in_at?': time,
    'created_at?': time,
    'updated_at?': time,
    'email?': text('Address at the provider'),
  }),
  Factor: exactly({
    id,
    created_at: time,
    updated_at: time,
    status: oneOf('Whether a code was shown', 'unverified', 'verified'),
    'friendly_name?': text('As its owner calls it'),
    factor_type: text('totp'),
  }),
  Session: exactly({
    access_token: text('JWT (RFC 7519)'),
    token_type: oneOf('RFC 6750', 'bearer'),
    expires_in: { type: 'integer', description: 'Seconds' },
    expires_at: seconds('End of the access token'),
    refresh_token: text('Good for one more session'),
    user: named('User'),
    'provider_token?': text("Google's access token"),
    'provider_refresh_token?': text("Google's refresh token"),
    'weak_password?': weakPassword,
  }),
  Done: exactly({}),
  ErrorCode: { type: 'string', enum: Object.keys(authErrors) },
  Error: error,
  Error20240101: error20240101,
  OauthError: exactly({ error: text('RFC 6749 section 5.2'), error_description: text('For people') }),
  KeyError: exactly({ message: text('For people') }),
} as const satisfies Readonly<Record<string, Schema>>

export const failure: Schema = {
  anyOf: [named('Error'), named('Error20240101'), named('OauthError'), named('KeyError')],
}
