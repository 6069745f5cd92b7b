import { json, type Call, type Outcome } from '../call/call.ts'
import { otherProviders } from '../providers/other-providers.ts'
import type { AuthSettings } from '../settings/keys.ts'

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
