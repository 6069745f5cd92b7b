import { isUtf8 } from 'node:buffer'
import { Type, type Static, type TBoolean, type TSchema, type TString, type TUnknown, type TUnsafe } from 'typebox'
import { refuse, type AuthFailure } from './errors.ts'
import { isJsonObject, tryParseJson, type JsonObject } from '../../lib/json.ts'

/** Input and answers of an endpoint. Its types, their checks and /openapi.json are derived from it. */
export interface Io extends DescribedEndpoint {
  readonly query?: Parameters
  /** Whether undeclared parameters count too: they are passed to a provider. */
  readonly passesQuery?: boolean
  readonly body?: Body
}

/** An endpoint without input; functions that read neither query nor body need no more. */
export interface DescribedEndpoint {
  readonly summary: string
  readonly answers: Readonly<Record<number, Answer>>
}

/** One successful answer; refusals are alike everywhere. */
export type Answer =
  | { readonly kind: 'json'; readonly schema: TSchema }
  | { readonly kind: 'redirect' }
  | { readonly kind: 'empty' }

export type Parameters = Readonly<Record<string, TString>>

export interface Body {
  /** `patch`: JSON that the endpoint reads as a whole, because null and unknown names have a meaning (RFC 7396). */
  readonly kind: 'json' | 'form' | 'patch'
  readonly members: Members
}

export type Members = Readonly<Record<string, Member>>

/** The schemas that `wantedInstead` can check. */
export type Member = TString | TBoolean | TUnsafe<JsonObject> | TUnknown

export type QueryOf<I extends Io> = Values<I['query']>

export type BodyOf<I extends Io> = I['body'] extends { readonly kind: 'patch' }
  ? JsonObject
  : I['body'] extends { readonly members: infer M }
    ? Values<M>
    : Values<unknown>

/** Absent values are undefined, but their names exist: reading an undeclared one does not compile. */
type Values<M> = { readonly [N in keyof M]: M[N] extends TSchema ? Static<M[N]> | undefined : never }

export type AnswerOf<I extends Io, S extends keyof I['answers'] = 200> = I['answers'][S] extends {
  readonly schema: infer A extends TSchema
}
  ? DeepReadonly<Static<A>>
  : never
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

export function readQuery(
  { query = {}, passesQuery }: Io,
  given: Readonly<Record<string, string>>,
): QueryOf<DescribedEndpoint> {
  if (passesQuery) return given
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(query, name)))
}

export function readDeclared({ body }: Io, bytes: Buffer): BodyOf<DescribedEndpoint> {
  switch (body?.kind) {
    case undefined:
      return {}
    case 'json':
      return memberValues(body.members, readJsonBody(bytes))
    case 'form':
      return memberValues(body.members, readFormBody(bytes))
    case 'patch':
      return readJsonBody(bytes)
  }
}

/**
 * Null counts as absent, and a wrong type is bad JSON. A member is checked when it is read: the endpoint decides which
 * refusal comes first, and a member that it does not need may have any type.
 */
function memberValues(members: Members, sent: JsonObject): object {
  const prototype = prototypes.get(members) ?? prototypeOf(members)
  prototypes.set(members, prototype)
  return Object.assign(Object.create(prototype) as object, { [given]: sent })
}

/** Per endpoint: defining the members for each request costs more than reading them. */
const prototypes = new WeakMap<Members, object>()

const given = Symbol('given')

interface Sent {
  readonly [given]: JsonObject
}

function prototypeOf(members: Members): object {
  const entries = Object.entries(members).map(([name, member]) => {
    const get = function (this: Sent): unknown {
      return sound(name, member, Object.hasOwn(this[given], name) ? (this[given][name] ?? undefined) : undefined)
    }
    return [name, { get }] as const
  })
  return Object.defineProperties({}, Object.fromEntries(entries))
}

function sound(name: string, member: Member, value: unknown): unknown {
  const wanted = value === undefined ? null : wantedInstead(member, value)
  if (wanted === null) return value
  throw malformed(`${name} must be ${wanted}`)
}

/** Null: the type is right. An `enum` is not checked, because endpoints refuse other values in their own sentences. */
function wantedInstead(member: Member, value: unknown): string | null {
  if (Type.IsUnknown(member)) return null
  if (Type.IsString(member)) return typeof value === 'string' ? null : 'a string'
  if (Type.IsBoolean(member)) return typeof value === 'boolean' ? null : 'true or false'
  return isJsonObject(value) ? null : 'an object'
}

const deepest = 64

const malformed = (what: string): AuthFailure => refuse('bad_json', `Could not parse request body as JSON: ${what}`)

/** A JSON object; an absent body is an empty one. Throws 400 `bad_json`. */
export function readJsonBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0) return {}
  if (!isUtf8(bytes)) throw malformed('it is not UTF-8')
  const value = tryParseJson(bytes.toString('utf8'))
  if (value === undefined) throw malformed('it is malformed')
  if (!isJsonObject(value)) throw malformed('it must be an object')
  checkValue(value, 0)
  return value
}

/** The fields of a form; the last of a name counts. */
function readFormBody(bytes: Buffer): JsonObject {
  return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
}

/** Values that Postgres cannot store: NUL and lone surrogates in a text, and unreasonable nesting. */
function checkValue(value: unknown, depth: number): void {
  if (depth > deepest) throw malformed('it is nested too deeply')
  if (typeof value === 'string') checkText(value)
  else if (Array.isArray(value)) for (const item of value) checkValue(item, depth + 1)
  else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      checkText(key)
      checkValue(value[key], depth + 1)
    }
  }
}

/** Lone surrogates (with the flag u a pair is one character). */
const unstorable = /\0|[\ud800-\udfff]/u

function checkText(text: string): void {
  if (unstorable.test(text)) throw malformed('a text holds characters that cannot be stored')
}
