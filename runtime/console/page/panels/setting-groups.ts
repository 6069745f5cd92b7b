import type { AuthSettingName } from '../../../auth/settings/setting-keys.ts'
import type { ShownSetting } from '../../admin/call.ts'

export interface SettingGroup {
  readonly title: string
  readonly settings: readonly ShownSetting[]
}

/** Settings in groups for the owner. A setting without a group is shown at the end. */
const groups: Readonly<Record<string, readonly AuthSettingName[]>> = {
  'Auth and its addresses': ['auth_enabled', 'site_url', 'redirect_allow_list', 'external_url'],
  'Sign-in methods': [
    'email_enabled',
    'disable_signup',
    'autoconfirm',
    'anonymous_enabled',
    'manual_linking',
    'secure_email_change',
  ],
  Google: ['google_enabled', 'google_client_id', 'google_secret'],
  'Mails and codes': ['otp_exp', 'mail_cooldown', 'mail_ceiling'],
  Passwords: [
    'password_min_length',
    'password_required_characters',
    'password_reauthentication',
    'password_require_current',
  ],
  'Second factors': ['mfa_totp_enabled', 'mfa_max_factors'],
  'Sessions and tokens': [
    'jwt_exp',
    'refresh_reuse_interval',
    'session_timebox',
    'session_inactivity',
    'session_single_per_user',
    'audit_retention',
    'jwt_aud',
    'jwt_default_role',
    'jwt_keys',
    'admin_roles',
  ],
  Limits: [
    'limit_sign_up',
    'limit_guests',
    'limit_token',
    'limit_verify',
    'limit_factor',
    'ban_threshold',
    'ban_window',
    'ban_duration',
  ],
}

/** Settings with one value only. */
const fixed: readonly AuthSettingName[] = ['otp_length']

const grouped: ReadonlySet<string> = new Set([...Object.values(groups).flat(), ...fixed])

export function groupSettings(settings: readonly ShownSetting[]): readonly SettingGroup[] {
  const byName = new Map(settings.map((setting) => [setting.name, setting]))
  const known = Object.entries(groups).map(([title, names]) => ({
    title,
    settings: names.flatMap((name) => byName.get(name) ?? []),
  }))
  const others = { title: 'Others', settings: settings.filter(({ name }) => !grouped.has(name)) }
  return [...known, others].filter((group) => group.settings.length > 0)
}
