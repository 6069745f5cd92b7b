import { publicJwks } from '../../identity/key-set.ts'
import { json, type Call, type Outcome } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { isOffered } from '../providers/client.ts'
import { otherProviders } from '../providers/other-providers.ts'
import { providerNames } from '../providers/provider-table.ts'

/** Public information about auth. */

/** GET /health (spec/auth.md 4.1). Probes of GoTrue look for the name; it does not depend on the database. */
export async function health(): Promise<Outcome> {
  return json({ version: 'v1', name: 'GoTrue', description: 'Catalograph speaks the interface of GoTrue' })
}

/** GET /.well-known/jwks.json (spec/auth.md 4.1): public keys, without the shared secret. */
export async function jwks({ settings }: Call): Promise<Outcome> {
  return json({ keys: publicJwks(settings.jwt_keys) }, { 'cache-control': 'public, max-age=600' })
}

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

/** POST /sso: SAML is not supported; clients know this text (spec/auth.md 11). */
export async function sso(): Promise<never> {
  throw refuse('saml_provider_disabled')
}

/** Recovery codes are not supported: the newest clients ask for them, and know these codes (spec/auth.md 5.7). */
export async function enrolRecoveryCodes(): Promise<never> {
  throw refuse('mfa_recovery_codes_enroll_not_enabled')
}

export async function verifyRecoveryCode(): Promise<never> {
  throw refuse('mfa_recovery_codes_verify_not_enabled')
}
