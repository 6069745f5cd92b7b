import { judgeEmail, normalEmail } from './email.ts'
import type { JsonObject } from '../../lib/json.ts'

/** What the provider says of a person, out of claims that were verified (OpenID Connect Core 1.0 section 5.1). */
export interface OpenIdProfile {
  readonly subject: string
  /** In lower case; null where there is none or it cannot be one. */
  readonly email: string | null
  readonly verified: boolean
  /** What becomes identity data and `user_metadata` (spec/auth.md 6.4). */
  readonly data: JsonObject
}

const textOf = (claims: JsonObject, name: string): string | null => {
  const value = claims[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** What cannot be stored: NUL, and halves of characters. */
const unstorable = /\0|[\ud800-\udfff]/gu

/** A name or an address of a picture; a mailbox is another one without any of its letters. */
const shownText = (claims: JsonObject, name: string): string | null =>
  textOf(claims, name)?.replace(unstorable, '') ?? null

/** `issuer` as it is configured, never as a token says. */
export function openIdProfile(subject: string, claims: JsonObject, issuer: string): OpenIdProfile {
  const address = textOf(claims, 'email')
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
