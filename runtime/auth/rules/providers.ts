import type { JsonObject } from '../../lib/json.ts'
import { judgeEmail, normalEmail } from './email.ts'

/** `app_metadata.provider` and `providers`: the sign-in methods of a user; the first is the original one. */
interface Providers {
  readonly provider: string
  readonly providers: readonly string[]
}

const providerNames = (metadata: JsonObject | null): readonly string[] => {
  const names = metadata?.['providers']
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

export function addProvider(metadata: JsonObject | null, name: string): Providers {
  const names = providerNames(metadata)
  return onlyProviders(metadata, names.includes(name) ? names : [...names, name])
}

/** These and no others, at least one. */
export function onlyProviders(metadata: JsonObject | null, providers: readonly string[]): Providers {
  const first = metadata?.['provider']
  const provider = typeof first === 'string' && providers.includes(first) ? first : (providers[0] ?? '')
  return { provider, providers }
}

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

/** The account that a provider's sign-in opens: the table of spec/auth.md 6.5. */

/** How an address was confirmed. An account without a proof, such as an imported one, counts as proved. */
export type AddressProof = 'mailbox' | 'autoconfirm' | 'admin' | 'provider'

export interface AccountFacts {
  readonly id: string
  /** In lower case; null: none. */
  readonly email: string | null
  readonly confirmed: boolean
  /** Null: the account was imported, which counts as proved. */
  readonly proof: AddressProof | null
  readonly banned: boolean
}

export interface LinkFacts {
  /** The account with the provider's subject. */
  readonly owner: AccountFacts | null
  readonly sameAddress: readonly AccountFacts[]
  /** The provider's address in lower case; null: none that is valid. */
  readonly email: string | null
  /** Whether the provider has verified it; no setting replaces that. */
  readonly verified: boolean
  readonly signUpDisabled: boolean
}

export type LinkDecision =
  /** spec/auth.md 6.5, rows 1 and 4. `confirm`: the provider proves the address of the account. */
  | { readonly kind: 'sign-in'; readonly account: AccountFacts; readonly confirm: boolean }
  | { readonly kind: 'link'; readonly account: AccountFacts }
  /** spec/auth.md 6.5, rows 5 and 6: the mailbox was never proved before, so the whole account may be a stranger's. */
  | { readonly kind: 'take-over'; readonly account: AccountFacts }
  /** spec/auth.md 6.5, rows 2 and 3. An unconfirmed address must be confirmed by mail before the sign-in. */
  | { readonly kind: 'create'; readonly email: string | null; readonly confirmed: boolean }
  /** The account of the identity has an unproved address: a mail is sent to it, and the sign-in is refused. */
  | { readonly kind: 'remind'; readonly account: AccountFacts }
  | { readonly kind: 'refuse'; readonly reason: 'banned' | 'signup-disabled' | 'several' }

export function decideLink(facts: LinkFacts): LinkDecision {
  if (facts.owner !== null) return signInAs(facts.owner, facts)
  const provedEmail = facts.verified ? facts.email : null
  if (provedEmail === null || facts.sameAddress.length === 0) return creation(facts)
  const [account, ...others] = facts.sameAddress
  if (account === undefined || others.length > 0) return { kind: 'refuse', reason: 'several' }
  if (account.banned) return { kind: 'refuse', reason: 'banned' }
  const proved = account.confirmed && account.proof !== 'autoconfirm'
  return { kind: proved ? 'link' : 'take-over', account }
}

function signInAs(account: AccountFacts, { email, verified }: LinkFacts): LinkDecision {
  if (account.banned) return { kind: 'refuse', reason: 'banned' }
  if (account.confirmed || account.email === null) return { kind: 'sign-in', account, confirm: false }
  if (verified && account.email === email) return { kind: 'sign-in', account, confirm: true }
  return { kind: 'remind', account }
}

function creation({ email, verified, sameAddress, signUpDisabled }: LinkFacts): LinkDecision {
  if (signUpDisabled) return { kind: 'refuse', reason: 'signup-disabled' }
  const free = sameAddress.length === 0 ? email : null
  return { kind: 'create', email: free, confirmed: verified && free !== null }
}
