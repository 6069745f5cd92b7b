import { Type, type TSchema } from 'typebox'
import { authErrors } from '../protocol/errors.ts'
import { providerNames } from '../providers/provider-table.ts'
import { exactly, flag, id, ref, object, oneOf, text, time } from './build.ts'

/** Answer objects of several endpoints (spec/auth.md 3), by the names that `named` refers to. */

const seconds = (description: string) => Type.Integer({ description: `${description}, Unix seconds` })

/** The answer for an unconfirmed account has fewer members. */
export const userMembers = {
  id,
  aud: text('Audience'),
  role: text('Database role'),
  email: Type.Optional(text('Absent where a user has none')),
  phone: text('Always empty'),
  email_confirmed_at: Type.Optional(time),
  phone_confirmed_at: Type.Optional(time),
  confirmed_at: Type.Optional(time),
  invited_at: Type.Optional(time),
  confirmation_sent_at: Type.Optional(time),
  recovery_sent_at: Type.Optional(time),
  new_email: Type.Optional(text('An address that waits to be confirmed')),
  email_change_sent_at: Type.Optional(time),
  new_phone: Type.Optional(text('Of restored data alone')),
  phone_change_sent_at: Type.Optional(time),
  reauthentication_sent_at: Type.Optional(time),
  last_sign_in_at: Type.Optional(time),
  app_metadata: object('Data of the project about the user'),
  user_metadata: object('Data of the user'),
  factors: Type.Optional(Type.Array(ref('Factor'))),
  identities: Type.Array(ref('Identity')),
  created_at: Type.Optional(time),
  updated_at: Type.Optional(time),
  banned_until: Type.Optional(time),
  deleted_at: Type.Optional(time),
  is_anonymous: flag('True for guests'),
}

const weakPassword = exactly({
  message: Type.Optional(text('For people')),
  reasons: Type.Array(oneOf('The missing requirement', 'length', 'characters', 'pwned')),
})

/** The two forms that X-Supabase-Api-Version selects (spec/auth.md 2.4). */
const error = exactly({
  code: Type.Integer({ description: 'The HTTP status' }),
  error_code: ref('ErrorCode'),
  msg: text('For people'),
  weak_password: Type.Optional(weakPassword),
  error_id: Type.Optional(text('The request, as the log knows it')),
})

const error20240101 = exactly({
  code: ref('ErrorCode'),
  message: text('For people'),
  weak_password: Type.Optional(weakPassword),
})

export const schemas = {
  User: exactly(userMembers),
  Identity: exactly({
    identity_id: id,
    id: text("The provider's id of the person"),
    user_id: id,
    identity_data: Type.Optional(object('Data of the provider')),
    provider: text(['email', ...providerNames].join(' or ')),
    last_sign_in_at: Type.Optional(time),
    created_at: Type.Optional(time),
    updated_at: Type.Optional(time),
    email: Type.Optional(text('Address at the provider')),
  }),
  Factor: exactly({
    id,
    created_at: time,
    updated_at: time,
    status: oneOf('Whether a code was shown', 'unverified', 'verified'),
    friendly_name: Type.Optional(text('As its owner calls it')),
    factor_type: text('totp'),
  }),
  Session: exactly({
    access_token: text('JWT (RFC 7519)'),
    token_type: oneOf('RFC 6750', 'bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    expires_at: seconds('End of the access token'),
    refresh_token: text('Good for one more session'),
    user: ref('User'),
    provider_token: Type.Optional(text("The provider's access token")),
    provider_refresh_token: Type.Optional(text("The provider's refresh token")),
    weak_password: Type.Optional(weakPassword),
  }),
  Done: exactly({}),
  ErrorCode: Type.String({ enum: Object.keys(authErrors) }),
  Error: error,
  Error20240101: error20240101,
  OauthError: exactly({ error: text('RFC 6749 section 5.2'), error_description: text('For people') }),
  KeyError: exactly({ message: text('For people') }),
} as const satisfies Readonly<Record<string, TSchema>>

export const failure = Type.Union([ref('Error'), ref('Error20240101'), ref('OauthError'), ref('KeyError')])
