import type { ProviderRow } from './provider.ts'

/** From https://accounts.google.com/.well-known/openid-configuration. */
export const google: ProviderRow = {
  issuer: 'https://accounts.google.com',
  // Google's older tokens lack the scheme.
  aliases: ['accounts.google.com'],
  metadata: {
    issuer: 'https://accounts.google.com',
    authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_endpoint: 'https://oauth2.googleapis.com/token',
    userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
    jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
  },
  scopes: ['openid', 'email', 'profile'],
  algorithms: ['RS256'],
  settings: { enabled: 'google_enabled', clientId: 'google_client_id', secret: 'google_secret' },
}
