import { Type } from 'typebox'
import { otherProviders } from '../providers/other-providers.ts'
import { providerNames } from '../providers/provider-table.ts'
import {
  body,
  exactly,
  anything,
  flag,
  form,
  id,
  io,
  ref,
  noContent,
  object,
  ok,
  oneOf,
  query,
  redirects,
  text,
} from './build.ts'

const email = text('Address')
const phone = text('Refused: phones are not supported')
const password = text('At most 72 bytes')
const code = text('The code')

/** RFC 7636: with the verifier the client later proves that it began the flow. */
const challenge = {
  code_challenge: text('RFC 7636'),
  code_challenge_method: oneOf('RFC 7636; plain unless it is given', 's256', 'plain', 'S256', 'PLAIN', 'Plain'),
}
const byMail = { email, ...challenge }
const data = object('User metadata')

/** The destination after a mail or provider; a header `redirect_to` is equivalent. */
const redirectTo = { redirect_to: text('Where the browser shall go; an allowed address') }

/** GET and POST of the callback (RFC 6749 section 4.1.2). */
const returned = {
  state: text('Which flow'),
  code,
  error: text("The provider's refusal"),
  error_description: text('For people'),
}

const session = ok(ref('Session'))
const done = ok(ref('Done'))

export const health = io(
  'Confirms that auth is enabled',
  ok(exactly({ version: text('v1'), name: text('GoTrue'), description: text('For people') })),
)

export const publicSettings = io(
  'The enabled sign-in methods',
  ok(
    exactly({
      external: exactly(
        Object.fromEntries(
          ['anonymous_users', 'email', 'phone', ...providerNames, ...otherProviders].map((name) => [
            name,
            Type.Boolean(),
          ]),
        ),
      ),
      disable_signup: flag('New users are refused'),
      mailer_autoconfirm: flag('No mail is needed to sign up'),
      phone_autoconfirm: flag('False'),
      sms_provider: text('Empty'),
      saml_enabled: flag('False'),
      passkeys_enabled: flag('False'),
    }),
  ),
)

export const jwks = io('Public keys of access tokens (RFC 7517)', ok(exactly({ keys: Type.Array(object('RFC 7517')) })))

export const signUp = io(
  'An account by address and password, or a guest where neither is given',
  ok(Type.Union([ref('Session'), ref('User')])),
  { ...query(redirectTo), ...body({ email, phone, password, data, ...challenge }) },
)

export const token = io('A session for a password, a refresh token, a code or an id token', session, {
  ...query({ grant_type: oneOf('Which of them', 'password', 'refresh_token', 'pkce', 'id_token') }),
  ...body({
    email,
    phone,
    password,
    refresh_token: text('refresh_token'),
    auth_code: text('pkce: the code that the browser came back with'),
    code_verifier: text('pkce: RFC 7636'),
    provider: text(`id_token: ${providerNames.join(' or ')}`),
    id_token: text('id_token: OpenID Connect Core 1.0'),
    access_token: text('id_token: checked against at_hash'),
    nonce: text('id_token: what was hashed into the token'),
    link_identity: flag('id_token: joins the account of the bearer'),
  }),
})

export const otp = io('A mail that signs in, or signs up a new user', done, {
  ...query(redirectTo),
  ...body({ ...byMail, phone, data, create_user: flag('False: only users with an account') }),
})

export const magicLink = io('A mail that signs in', done, { ...query(redirectTo), ...body({ ...byMail, phone, data }) })

export const recover = io('A mail that signs in to set a new password', done, { ...query(redirectTo), ...body(byMail) })

export const resend = io('The mail once more', done, {
  ...query(redirectTo),
  ...body({ ...byMail, phone, type: oneOf('Which', 'signup', 'email_change', 'sms', 'phone_change') }),
})

/** The first of two mailboxes gets this. */
const proceed = exactly({ msg: text('For people'), code: text('200') })

const verificationType = text('signup, invite, magiclink, recovery, email_change or email')

export const verify = io(
  'A session for a mailed code, or for the token of a link',
  ok(Type.Union([ref('Session'), proceed])),
  {
    ...body({
      type: verificationType,
      token: text('Six digits or more, with the address'),
      token_hash: text('Of a link, alone'),
      email,
      phone,
      redirect_to: anything('Refused beside token_hash'),
    }),
  },
)

export const verifyLink = io('The target of a mailed link', redirects(303), {
  ...query({ token: text("The link's"), type: verificationType, ...redirectTo }),
})

export const reauthenticate = io('Mails the code that a change of password may need', done)
export const getUser = io('The signed-in user', ok(ref('User')))

export const updateUser = io('Changes address, password or metadata', ok(ref('User')), {
  ...query(redirectTo),
  ...body({
    ...byMail,
    phone,
    password,
    data,
    nonce: text('Code of GET /reauthenticate'),
    current_password: text('Where the project asks for it'),
    app_metadata: anything('Refused: it is the project that writes it'),
  }),
})

export const logout = io('Ends sessions', noContent, {
  ...query({ scope: oneOf('Which; global unless it is given', 'global', 'local', 'others') }),
})

const authorization = {
  provider: text(providerNames.join(' or ')),
  scopes: text('Further scopes, by commas or spaces'),
  ...redirectTo,
  ...challenge,
}

export const authorize = io('Sends the browser to the provider', redirects(302), {
  ...query(authorization),
  passesQuery: true,
})

export const callback = io('Where the provider sends the browser back', redirects(302, 303), query(returned))

export const callbackForm = io(
  'The same for answers as a form (OAuth 2.0 Form Post Response Mode)',
  redirects(302, 303),
  { ...query(returned), ...form(returned) },
)

export const authorizeIdentity = io(
  'Sends the browser to the provider, to link an identity',
  { ...ok(exactly({ url: text('Where to send the browser') })), ...redirects(302) },
  { ...query({ ...authorization, skip_http_redirect: oneOf('Answers JSON', 'true', 'false') }), passesQuery: true },
)

export const unlinkIdentity = io('Unlinks an identity', done)

const totp = oneOf('The one kind that there is', 'totp')

export const enrolFactor = io(
  'A new factor, with its secret, which is shown only once',
  ok(
    exactly({
      id,
      type: totp,
      friendly_name: text('Empty: none'),
      totp: exactly({ qr_code: text('SVG'), secret: text('Base32'), uri: text('otpauth URI') }),
    }),
  ),
  body({
    factor_type: oneOf('totp; other types are refused', 'totp', 'phone', 'webauthn'),
    friendly_name: text('At most 255 characters'),
    issuer: text('At most 64 characters; the host of the site URL unless it is given'),
  }),
)

export const challengeFactor = io(
  'Begins to show a factor',
  ok(exactly({ id, type: totp, expires_at: Type.Integer({ description: 'Unix seconds' }) })),
  body({}),
)

export const verifyFactor = io('Shows a factor: the session becomes aal2', session, {
  ...body({ challenge_id: text('Of the challenge'), code: text('Six digits (RFC 6238)') }),
})

export const unenrolFactor = io('Takes a factor away', ok(exactly({ id })))
export const recoveryCodeStatus = io('Refused: recovery codes are not supported', {})

export const recoveryCodes = io('Refused: recovery codes are not supported', {}, body({}))
export const sso = io('Refused: SAML is not supported', {}, body({}))
