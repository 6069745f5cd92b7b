import type { Caller } from '../../../contract/execution.ts'
import { isDecimal, isJsonObject, type JsonObject, parseJson } from '../../../lib/json.ts'
import type { GraphqlRequest } from '../../protocol/request-and-answer.ts'
import { sha256Hex } from '../../../lib/text.ts'

/** Claims that differ between tokens of one person without a meaning for it (RFC 7519 section 4.1). */
const ofToken: ReadonlySet<string> = new Set(['exp', 'iat', 'jti'])

/** The member of a request's extensions about the transport of a stream. */
const ofStream = 'live'

/** The common key of streams that share a watch (spec/graphql.md 16.2), as one short text. */
export function watchKey(request: GraphqlRequest, { role, claims }: Caller): string {
  const { query, operationName, variables, extensions, unread = null } = request
  const asked = [query, operationName, byName(variables), byName(extensions, ofStream), unread]
  return sha256Hex(canonicalJson([...asked, role, lastingClaims(claims)]))
}

function lastingClaims(claims: string): unknown {
  const all = parseJson(claims)
  if (!isJsonObject(all)) return all
  return byName(Object.fromEntries(Object.entries(all).filter(([name]) => !ofToken.has(name))))
}

/** By name at the top, where order is irrelevant; in values it may matter, as in json passed to a function. */
const byName = (members: JsonObject, but?: string): unknown =>
  Object.entries(members)
    .filter(([name]) => name !== but)
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** JSON, with every digit of a number. */
function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint' || isDecimal(value)) return String(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/** Approximate bytes that a watch keeps of its request. */
export const requestBytes = ({ query, variables, unread = '' }: GraphqlRequest, { claims }: Caller): number =>
  (query ?? '').length + canonicalJson(variables).length + unread.length + claims.length
