import { json, type Call, type Outcome } from '../call/call.ts'
import type { AuthSettings } from '../settings/keys.ts'

/** Providers that GoTrue knows and we do not offer: clients look them up by name. */
export const otherProviders = [
  'apple',
  'azure',
  'bitbucket',
  'discord',
  'facebook',
  'figma',
  'fly',
  'github',
  'gitlab',
  'kakao',
  'keycloak',
  'linkedin',
  'linkedin_oidc',
  'notion',
  'slack',
  'slack_oidc',
  'snapchat',
  'spotify',
  'twitch',
  'twitter',
  'workos',
  'x',
  'zoom',
] as const

/** Offered only with switch, id and secret (spec/auth.md 1). */
export function offersGoogle(settings: AuthSettings): boolean {
  return settings.google_enabled && settings.google_client_id !== '' && settings.google_secret !== ''
}

/** GET /settings (spec/auth.md 4.1). */
export async function publicSettings({ settings }: Call): Promise<Outcome> {
  return json({
    external: {
      anonymous_users: settings.anonymous_enabled,
      ...Object.fromEntries(otherProviders.map((name) => [name, false])),
      google: offersGoogle(settings),
      email: settings.email_enabled,
      phone: false,
    },
    disable_signup: settings.disable_signup,
    mailer_autoconfirm: settings.autoconfirm,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    passkeys_enabled: false,
  })
}
