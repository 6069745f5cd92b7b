import type { AuthSettings } from '../settings/setting-keys.ts'
import type { ProviderClient } from './provider-set.ts'
import { providers, type ProviderName } from './provider-table.ts'

/** The project as the provider knows it. */
export function clientOf(settings: AuthSettings, provider: ProviderName): ProviderClient {
  const { clientId, secret } = providers[provider].settings
  return { clientId: settings[clientId], secret: settings[secret] }
}

/** Whether people may sign in with it: only with switch, id and secret (spec/auth.md 1). */
export function isOffered(settings: AuthSettings, provider: ProviderName): boolean {
  const { clientId, secret } = clientOf(settings, provider)
  return settings[providers[provider].settings.enabled] && clientId !== '' && secret !== ''
}

/** Byte for byte the address that the owner entered at the provider, for every host of a request (spec/auth.md 6.3). */
export function callbackOf({ external_url: url }: AuthSettings): string {
  return `${url}/callback`
}
