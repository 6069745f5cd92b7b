import type { SettingKey } from '../../settings/keys.ts'
import { anyText, baseAddress, nameList, wholeNumber, type Parser } from '../../settings/parsers.ts'
import {
  characterClasses,
  jwkSet,
  onOrOff,
  duration,
  orOff,
  redirectList,
  siteAddress,
  textList,
  type PrivateJwk,
} from './parsers.ts'

/** The kind of a setting's value, for code that shows or edits it. */
export type SettingType = 'switch' | 'number' | 'seconds' | 'text' | 'address' | 'list' | 'json'

/** One setting of auth: its parser, and its default while the owner has not set it. */
export interface AuthSettingKey<T> extends Omit<SettingKey<T>, 'env'> {
  readonly type: SettingType
  /** Refuses more than `parse`, which still reads older stored values. Absent: the same. */
  readonly save?: Parser<T>
}

const year = 31_536_000

const toggle = (fallback: boolean, help: string) =>
  ({ type: 'switch', parse: onOrOff, fallback, secret: false, help }) as const

const amount = (least: number, most: number, fallback: number, help: string) =>
  ({ type: 'number', parse: wholeNumber(least, most), fallback, secret: false, help }) as const

const span = (least: number, most: number, fallback: number, help: string) =>
  ({ type: 'seconds', parse: duration(least, most), fallback, secret: false, help }) as const

const optionalSeconds = (help: string) =>
  ({ type: 'seconds', parse: orOff(duration(1, 10 * year)), fallback: null, secret: false, help }) as const

const limit = (fallback: number, help: string) => amount(0, 1_000_000, fallback, help)

const items = <T>(parse: Parser<readonly T[]>, fallback: readonly T[], help: string) =>
  ({ type: 'list', parse, fallback, secret: false, help }) as const

const address = (parse: Parser<string>, help: string) =>
  ({ type: 'address', parse, fallback: null, secret: false, help }) as const

const word = (fallback: string, help: string) =>
  ({ type: 'text', parse: anyText, fallback, secret: false, help }) as const

/**
 * Every setting that an owner can change at run time (spec/auth.md 1). To add one, add a row and read it where it is
 * needed. The secret that signs tokens is not among them: it is JWT_SECRET of the environment.
 */
export const authSettingKeys = {
  auth_enabled: toggle(false, 'Whether auth answers at all.'),
  external_url: address(
    baseAddress,
    'Full address of auth: issuer of tokens, base of mail links and callback; by default BASE_URL/auth/v1.',
  ),
  site_url: address(
    siteAddress,
    'Address of the application, be it in its own scheme: default target of redirects, used in mails. Needed to enable auth.',
  ),
  redirect_allow_list: {
    ...items(textList, [], 'Further redirect targets; * within a segment, ** over segments.'),
    save: redirectList,
  },
  jwt_keys: {
    type: 'json',
    parse: jwkSet,
    fallback: [] as readonly PrivateJwk[],
    secret: true,
    help: 'JWK set (RS256, ES256); the key whose key_ops hold sign signs in place of JWT_SECRET.',
  },
  jwt_exp: span(30, 604_800, 3600, 'Life of an access token.'),
  jwt_aud: word('authenticated', 'Audience of access tokens.'),
  jwt_default_role: word('authenticated', 'Database role of signed-in users.'),
  admin_roles: items(nameList, ['service_role', 'supabase_admin'], 'Roles whose tokens may call the admin endpoints.'),
  disable_signup: toggle(false, 'Refuses new accounts.'),
  anonymous_enabled: toggle(false, 'Guest sign-in.'),
  email_enabled: toggle(true, 'Sign-up and sign-in by address.'),
  autoconfirm: toggle(false, 'Takes addresses for confirmed without a mail.'),
  secure_email_change: toggle(true, 'A change of address is confirmed from both mailboxes.'),
  otp_length: amount(6, 6, 6, 'Digits of a mailed code; always 6.'),
  otp_exp: span(60, 604_800, 3600, 'Life of mailed codes and links.'),
  mail_cooldown: span(0, 86_400, 60, 'Least time between two mails of one kind to one address.'),
  mail_ceiling: limit(30, 'Mails an hour that the mail server accepted, over all users.'),
  password_min_length: amount(1, 72, 6, 'Least characters of a password.'),
  password_required_characters: {
    type: 'text',
    parse: characterClasses,
    fallback: [] as readonly string[],
    secret: false,
    help: 'Classes of characters, separated by colons; a password needs one of each.',
  },
  password_reauthentication: toggle(false, 'A password change in an old session needs a code by mail.'),
  password_require_current: toggle(false, 'A password change needs the present password.'),
  refresh_reuse_interval: span(0, 3600, 10, 'How long a used refresh token still answers with the live one.'),
  session_timebox: optionalSeconds('Ends a session this long after its sign-in; off.'),
  session_inactivity: optionalSeconds('Ends a session that was not refreshed for so long; off.'),
  session_single_per_user: toggle(false, 'A sign-in ends the other sessions of its user.'),
  audit_retention: optionalSeconds('Deletes entries of the audit log that are older; off: keeps all.'),
  google_enabled: toggle(false, 'Sign-in with Google; offered once the client id and secret are set too.'),
  google_client_id: word('', 'OAuth client id at Google.'),
  google_secret: { type: 'text', parse: anyText, fallback: '', secret: true, help: 'OAuth client secret at Google.' },
  manual_linking: toggle(false, 'Signed-in users may link and unlink identities.'),
  mfa_totp_enabled: toggle(true, 'Second factors by TOTP.'),
  mfa_max_factors: amount(0, 100, 10, 'Factors that one user may have.'),
  limit_guests: amount(0, 1_000, 30, 'Guest sign-ins an hour from one source address; 0 sets no limit.'),
  limit_sign_up: limit(30, 'Sign-ups, requests for mails, and account changes in 5 minutes; 0 sets no limit.'),
  limit_token: limit(150, 'Sign-ins and refreshes in 5 minutes, 30 at once; 0 sets no limit.'),
  limit_verify: limit(30, 'Links and codes tried in 5 minutes from one source address; 0 sets no limit.'),
  limit_factor: limit(15, 'Challenges and codes of factors a minute, 30 at once; 0 sets no limit.'),
  ban_threshold: limit(100, 'Failures in the window that close a source address; 0 closes none.'),
  ban_window: span(1, 86_400, 600, 'Window in which failures of an address are counted.'),
  ban_duration: span(1, 604_800, 600, 'How long an address stays closed.'),
} as const satisfies Readonly<Record<string, AuthSettingKey<unknown>>>

export type AuthSettingName = keyof typeof authSettingKeys

type ParsedBy<K> = K extends { readonly parse: Parser<infer T> } ? T : never

/** Every setting as a value. Addresses are present: without them auth is not enabled, see load.ts. */
export type AuthSettings = { readonly [N in AuthSettingName]: ParsedBy<(typeof authSettingKeys)[N]> }

/** The table's rows without the types of their values, for code that treats all settings alike. */
export const authSettingRows: readonly (readonly [AuthSettingName, AuthSettingKey<unknown>])[] = Object.entries(
  authSettingKeys,
).map(([name, key]) => [name as AuthSettingName, key])

export function isAuthSettingName(name: string): name is AuthSettingName {
  return Object.hasOwn(authSettingKeys, name)
}
