import type { JsonObject } from '../../lib/json.ts'
import type { DatabaseTime, FactorRow, IdentityRow, UserRow } from '../protocol/records.ts'

/** The variable part of a user's tokens: `app_metadata` and `user_metadata`. */
export interface Metadata {
  readonly app: JsonObject | null
  readonly user: JsonObject | null
}

/**
 * The maximum of both together, in bytes of their JSON. Longer by a third in base64url, they leave room in a token
 * (identity/jwt.ts) for every other claim, and for our own additions to accepted metadata.
 */
export const largestMetadata = 32_768

function metadataBytes({ app, user }: Metadata): number {
  return Buffer.byteLength(JSON.stringify(app ?? {})) + Buffer.byteLength(JSON.stringify(user ?? {}))
}

/** Metadata with the keys of a change: those with null are removed (spec/auth.md 5.2). As the store merges it. */
export function merged(before: JsonObject | null, change: JsonObject): JsonObject {
  // Imported rows may contain another JSON value, which counts as empty (spec/auth.md 13).
  const known = Array.isArray(before) || typeof before !== 'object' ? {} : before
  const entries = Object.entries({ ...known, ...change })
  return Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(change, key) || change[key] !== null))
}

/** Whether a change makes metadata too large; metadata that was too large before may always shrink. */
export function outgrows(after: Metadata, before: Metadata | null): boolean {
  const size = metadataBytes(after)
  return size > largestMetadata && (before === null || size > metadataBytes(before))
}

/** Objects for clients (spec/auth.md 3). "opt" in the specification: the key is absent without a value. */

/** The members with a value; null, undefined and the empty text are omitted. */
function present(members: Readonly<Record<string, string | null | undefined>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const name of Object.keys(members)) {
    const value = members[name]
    if (value) kept[name] = value
  }
  return kept
}

/** A time as Postgres prints or writes it into JSON, in UTC -> RFC 3339 with its fraction (spec/auth.md 3). */
export function rfc3339(time: DatabaseTime): string {
  // The form in JSON.
  if (time.endsWith('+00:00') && time[10] === 'T') return `${time.slice(0, -6)}Z`
  return `${time.replace(' ', 'T').replace(/(?:\+00(?::?00)?|Z)?$/, '')}Z`
}

const time = (value: DatabaseTime | null): string | null => (value === null ? null : rfc3339(value))

/** spec/auth.md 3.1. Without the password's hash and tokens. */
export function userJson(user: UserRow): JsonObject {
  return {
    id: user.id,
    aud: user.aud ?? '',
    role: user.role ?? '',
    ...present({ email: user.email }),
    phone: user.phone ?? '',
    ...present({
      email_confirmed_at: time(user.email_confirmed_at),
      phone_confirmed_at: time(user.phone_confirmed_at),
      confirmed_at: time(user.confirmed_at),
      invited_at: time(user.invited_at),
      confirmation_sent_at: time(user.confirmation_sent_at),
      recovery_sent_at: time(user.recovery_sent_at),
      new_email: user.email_change,
      email_change_sent_at: time(user.email_change_sent_at),
      new_phone: user.phone_change,
      phone_change_sent_at: time(user.phone_change_sent_at),
      reauthentication_sent_at: time(user.reauthentication_sent_at),
      last_sign_in_at: time(user.last_sign_in_at),
    }),
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    ...(user.factors.length > 0 && { factors: factorsJson(user) }),
    identities: oldestFirst(user.identities).map(identityJson),
    ...present({
      created_at: time(user.created_at),
      updated_at: time(user.updated_at),
      banned_until: time(user.banned_until),
      deleted_at: time(user.deleted_at),
    }),
    is_anonymous: user.is_anonymous,
  }
}

/** spec/auth.md 3.2. */
function identityJson(identity: IdentityRow): JsonObject {
  return {
    identity_id: identity.id,
    id: identity.provider_id,
    user_id: identity.user_id,
    ...(identity.identity_data !== null && { identity_data: identity.identity_data }),
    provider: identity.provider,
    ...present({
      last_sign_in_at: time(identity.last_sign_in_at),
      created_at: time(identity.created_at),
      updated_at: time(identity.updated_at),
      email: identity.email,
    }),
  }
}

export function factorsJson({ factors }: UserRow): readonly JsonObject[] {
  return oldestFirst(factors).map(factorJson)
}

/** By creation. Times of one form and zone: their texts sort as they do. */
function oldestFirst<T extends { readonly id: string; readonly created_at: DatabaseTime | null }>(
  rows: readonly T[],
): readonly T[] {
  const key = ({ created_at, id }: T): string => `${created_at ?? '~'} ${id}`
  return rows.length < 2 ? rows : rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** spec/auth.md 3.4. Only the answer to the enrolment contains the secret. */
export function factorJson(factor: FactorRow): JsonObject {
  return {
    id: factor.id,
    created_at: rfc3339(factor.created_at),
    updated_at: rfc3339(factor.updated_at),
    status: factor.status,
    ...present({ friendly_name: factor.friendly_name }),
    factor_type: factor.factor_type,
  }
}

/** The data of a sign-up, from which answers about unconfirmed accounts are made. */
interface SignUpFacts {
  readonly email: string
  readonly data: JsonObject
}

/**
 * An unconfirmed account (spec/auth.md 4.2). It may be a stranger's: the answer contains nothing of its first caller,
 * and of an invitation not even the identity.
 */
export function unconfirmedUserJson(user: UserRow, { email, data }: SignUpFacts): JsonObject {
  const shown = userJson(user)
  const metadata = user.invited_at === null ? emailUserMetadata(user.id, email, data, false) : {}
  return {
    id: user.id,
    aud: shown['aud'],
    role: shown['role'],
    email,
    phone: '',
    confirmation_sent_at: shown['confirmation_sent_at'],
    app_metadata: emailAppMetadata,
    user_metadata: metadata,
    identities:
      user.invited_at === null ? user.identities.map((one) => identityJson({ ...one, identity_data: metadata })) : [],
    created_at: shown['created_at'],
    updated_at: shown['updated_at'],
    is_anonymous: false,
  }
}

interface Invented {
  readonly id: string
  readonly aud: string
  readonly at: string
}

/** The answer if the address has a confirmed account: made from nothing of that account (spec/auth.md 4.2). */
export function fakeUserJson({ email, data }: SignUpFacts, { id, aud, at }: Invented): JsonObject {
  return {
    id,
    aud,
    role: '',
    email,
    phone: '',
    confirmation_sent_at: at,
    app_metadata: emailAppMetadata,
    user_metadata: emailUserMetadata(id, email, data, false),
    identities: [],
    created_at: at,
    updated_at: at,
    is_anonymous: false,
  }
}

/** `app_metadata` of an account that signed up by address. */
export const emailAppMetadata: JsonObject = { provider: 'email', providers: ['email'] }

/** `user_metadata` and identity data of a sign-up by address: the caller's own keys never replace ours. */
export function emailUserMetadata(id: string, email: string, data: JsonObject, verified: boolean): JsonObject {
  return { ...data, sub: id, email, email_verified: verified, phone_verified: false }
}
