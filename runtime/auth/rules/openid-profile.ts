import { judgeEmail, normalEmail } from './email.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The provider's profile of a person, from verified claims (OpenID Connect Core 1.0 section 5.1). */
export interface OpenIdProfile {
  readonly subject: string
  /** In lower case; null if it is missing or invalid. */
  readonly email: string | null
  readonly verified: boolean
  /** The identity data and `user_metadata` (spec/auth.md 6.4). */
  readonly data: JsonObject
}

const claimText = (claims: JsonObject, name: string): string | null => {
  const value = claims[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** Characters that cannot be stored: NUL, and lone surrogates. */
const unstorable = /\0|[\ud800-\udfff]/gu

/** A name or a picture's address without such characters; in a mail address they would change the mailbox. */
const shownText = (claims: JsonObject, name: string): string | null =>
  claimText(claims, name)?.replace(unstorable, '') ?? null

/** `issuer` as configured, not from the token. */
export function openIdProfile(subject: string, claims: JsonObject, issuer: string): OpenIdProfile {
  const address = claimText(claims, 'email')
  const email = address !== null && judgeEmail(address) === null ? normalEmail(address) : null
  const verified = email !== null && (claims['email_verified'] === true || claims['email_verified'] === 'true')
  const [name, picture] = [shownText(claims, 'name'), shownText(claims, 'picture')]
  const data = {
    iss: issuer,
    sub: subject,
    ...(name !== null && { name, full_name: name }),
    ...(email !== null && { email }),
    ...(picture !== null && { picture, avatar_url: picture }),
    provider_id: subject,
    email_verified: verified,
    phone_verified: false,
  }
  return { subject, email, verified, data }
}
