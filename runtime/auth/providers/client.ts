import type { AuthSettings } from '../settings/keys.ts'
import type { Client } from './google.ts'

/** The project as the provider knows it. */
export function clientOf({ google_client_id: clientId, google_secret: secret }: AuthSettings): Client {
  return { clientId, secret }
}

/** Byte for byte what the owner entered at the provider, whatever host a request came to (spec/auth.md 6.3). */
export function callbackOf({ external_url: url }: AuthSettings): string {
  return `${url}/callback`
}
