import { json, type Call, type Outcome } from '../call/call.ts'
import { isOffered } from '../providers/client.ts'
import { otherProviders } from '../providers/other-providers.ts'
import { providerNames } from '../providers/table.ts'

/** GET /settings (spec/auth.md 4.1). */
export async function publicSettings({ settings }: Call): Promise<Outcome> {
  return json({
    external: {
      anonymous_users: settings.anonymous_enabled,
      ...Object.fromEntries(otherProviders.map((name) => [name, false])),
      ...Object.fromEntries(providerNames.map((name) => [name, isOffered(settings, name)])),
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
