import { createKeySet, type NamedJwk } from '../../identity/key-set.ts'
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import { baseAddress, wholeNumber, type Parsed, type Parser } from '../../settings/parsers.ts'
import { isWeb, readAddress } from '../protocol/input.ts'

const value = <T>(parsed: T): Parsed<T> => ({ kind: 'value', value: parsed })
const problem = (sentence: string): Parsed<never> => ({ kind: 'problem', problem: sentence })

export const onOrOff: Parser<boolean> = (text) => {
  if (/^(true|on|yes|1)$/i.test(text)) return value(true)
  if (/^(false|off|no|0)$/i.test(text)) return value(false)
  return problem('must be on or off')
}

/** A value or, with the word `off`, null. */
export function orOff<T>(parse: Parser<T>): Parser<T | null> {
  return (text) => (/^off$/i.test(text) ? value(null) : parse(text))
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Seconds, as a whole number or with a unit: `3600`, `90s`, `30m`, `12h`, `7d`. */
export function duration(least: number, most: number): Parser<number> {
  const seconds = wholeNumber(least, most)
  return (text) => {
    const [, number = text, unit = 's'] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
    const parsed = seconds(/^\d+$/.test(number) ? String(Number(number) * (secondsOf[unit] ?? 1)) : number)
    if (parsed.kind === 'value') return parsed
    return problem(`must be seconds from ${least} to ${most}, or a time such as 30m, 12h or 7d`)
  }
}

/** Texts separated by commas or line ends; none if the text is blank. Commas within braces do not separate. */
export const textList: Parser<readonly string[]> = (text) =>
  value(
    text
      .split(/[\n,](?![^{]*\})/)
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  )

/** Texts each of which can allow an address (spec/auth.md 8). */
export const redirectList: Parser<readonly string[]> = (text) => {
  const list = textList(text)
  const faulty = list.kind === 'value' ? list.value.find((entry) => !canAllow(entry)) : undefined
  return faulty === undefined
    ? list
    : problem(
        `has ${faulty}, which is not an address: an address begins with a scheme, such as https://app.example.com/**`,
      )
}

/** With a scheme (RFC 3986 3.1), possibly a custom one. A pattern may be part of it, or `**` replace it. */
const canAllow = (entry: string): boolean => /^(?:\*\*\S*|[a-z*?[{][^\s:/]*:\S+)$/i.test(entry)

/** The address of an application: a web address, or one with a custom scheme (RFC 8252 section 7.1). */
export const siteAddress: Parser<string> = (text) => {
  const web = baseAddress(text)
  if (web.kind === 'value') return web
  const isOwn = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9_-][\w.~%:/-]*$/i.test(text)
  const address = isOwn ? readAddress(text) : null
  return address !== null && !isWeb(address.parsed)
    ? value(text)
    : problem('must be a web address such as https://example.com, or a place of an own scheme such as myapp://home')
}

/** Classes of characters, one of each of which a password needs: `abc…:ABC…:0123456789`, in GoTrue's notation. */
export const characterClasses: Parser<readonly string[]> = (text) => {
  // A colon that belongs to a class is escaped with a backslash.
  const classes = text.split(/(?<!\\):/).map((one) => one.replaceAll('\\:', ':'))
  if (text === '') return value([])
  return classes.includes('') ? problem('has an empty class') : value(classes)
}

/** A JSON Web Key of the set: the members that are used; the rest is kept. */
export interface PrivateJwk extends NamedJwk {
  readonly kty: string
  readonly [member: string]: unknown
}

const isKey = (key: unknown): key is PrivateJwk => {
  if (typeof key !== 'object' || key === null) return false
  const { kid, kty, alg, key_ops: uses } = key as Partial<PrivateJwk>
  const matching = (kty === 'RSA' && alg === 'RS256') || (kty === 'EC' && alg === 'ES256')
  return typeof kid === 'string' && kid !== '' && matching && Array.isArray(uses)
}

/**
 * A JWK set (RFC 7517), as `{"keys": [...]}` or the bare list: RS256 and ES256 keys with a `kid` and `key_ops`, at most
 * one of which signs.
 */
export const jwkSet: Parser<readonly PrivateJwk[]> = (text) => {
  const keys = listOfKeys(text)
  if (keys === null || !keys.every(isKey)) {
    return problem('must be a JWK set of RS256 or ES256 keys, each with kid, alg and key_ops')
  }
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) return problem('names a kid twice')
  const signing = keys.filter(({ key_ops: uses }) => uses.includes('sign'))
  if (signing.length > 1) return problem('has more than one key that signs')
  return areUsable(keys) ? value(keys) : problem('has a key that cannot be used for what it says')
}

function areUsable(keys: readonly PrivateJwk[]): boolean {
  try {
    createKeySet(keys)
    return true
  } catch {
    return false
  }
}

function listOfKeys(text: string): readonly unknown[] | null {
  const parsed = tryParseJson(text)
  const keys = isJsonObject(parsed) ? parsed['keys'] : parsed
  return Array.isArray(keys) ? keys : null
}
