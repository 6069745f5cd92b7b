import { availableParallelism } from 'node:os'
import { hostUrls } from '../lib/host-urls.ts'
import { isJsonObject, tryParseJson } from '../lib/json.ts'

/** The value of a setting's text, or its problem, which never repeats the text, because it may be a secret. */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'problem'; readonly problem: string }

export type Parser<T> = (text: string) => Parsed<T>

const value = <T>(parsed: T): Parsed<T> => ({ kind: 'value', value: parsed })
const problem = (sentence: string): Parsed<never> => ({ kind: 'problem', problem: sentence })

export const anyText: Parser<string> = (text) => value(text)

/** Text of at least `least` characters: RFC 7518 section 3.2 requires as many bits as HS256's hash has. */
export function textOfAtLeast(least: number): Parser<string> {
  return (text) => (text.length >= least ? value(text) : problem(`must have at least ${least} characters`))
}

/** A whole number between two bounds, both included. */
export function wholeNumber(least: number, most: number): Parser<number> {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return number >= least && number <= most
      ? value(number)
      : problem(`must be a whole number between ${least} and ${most}`)
  }
}

/** The number of worker processes, or `auto` for one per processor (Node manual, os.availableParallelism). */
export const workerCount: Parser<number> = (text) =>
  text === 'auto' ? value(availableParallelism()) : wholeNumber(1, mostWorkers)(text)

const mostWorkers = 256

export function oneOf<const W extends string>(words: readonly W[]): Parser<W> {
  return (text) => {
    const found = words.find((word) => word === text)
    return found === undefined ? problem(`must be one of ${words.join(', ')}`) : value(found)
  }
}

/** A date, which begins in UTC, or a time with its zone (ISO 8601). */
export const dateOrTime: Parser<string> = (text) => {
  const isWritten = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
  return isWritten && !Number.isNaN(Date.parse(text))
    ? value(text)
    : problem('must be a date, or a time with its zone, such as 2027-01-31 or 2027-01-31T12:00Z')
}

/** on or off. */
export const flag: Parser<boolean> = (text) =>
  text === 'on' || text === 'off' ? value(text === 'on') : problem('must be on or off')

/** A share from 0 to 1: off, on, or a number. */
export const shareOrFlag: Parser<number> = (text) => {
  if (text === 'on') return value(1)
  if (text === 'off') return value(0)
  return /^(?:0?\.\d{1,9}|[01](?:\.0{1,9})?)$/.test(text)
    ? value(Number(text))
    : problem('must be on, off or a share between 0 and 1, such as 0.1')
}

/** Origins of web pages (Fetch standard, section CORS protocol), separated by commas. */
export const originList: Parser<readonly string[]> = (text) => {
  const origins = text.split(',').map((origin) => origin.trim())
  const isOrigin = (origin: string): boolean => URL.canParse(origin) && new URL(origin).origin === origin
  return origins.every(isOrigin)
    ? value(origins)
    : problem('must be origins separated by commas, such as https://app.example.com')
}

/** A path without a trailing slash, such as /api. */
export const pathPrefix: Parser<string> = (text) =>
  /^(?:\/[\w.~-]+)+\/?$/.test(text) ? value(text.replace(/\/$/, '')) : problem('must be a path such as /api')

export interface IssuerSetting {
  /** The `iss` of its tokens. */
  readonly issuer: string
  /** A required element of their `aud`. */
  readonly audience: string
  /** Roles that its tokens may name; the first is the default. */
  readonly roles: readonly string[]
  /** The address of its keys; null: .well-known/jwks.json below the issuer. */
  readonly jwks: string | null
}

const isWebAddress = (text: unknown): text is string =>
  typeof text === 'string' && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const isRoles = (roles: unknown): roles is readonly string[] =>
  Array.isArray(roles) &&
  roles.length > 0 &&
  roles.every((role) => typeof role === 'string' && role !== '' && role !== 'service_role')

function issuerOf(given: unknown): IssuerSetting | null {
  if (!isJsonObject(given)) return null
  const { issuer, audience, roles = ['authenticated'], jwks = null, ...rest } = given
  if (Object.keys(rest).length > 0 || !isWebAddress(issuer) || typeof audience !== 'string' || audience === '')
    return null
  if (!isRoles(roles) || (jwks !== null && !isWebAddress(jwks))) return null
  return { issuer, audience, roles, jwks }
}

/** A JSON list of issuers: `[{"issuer": "https://...", "audience": "...", "roles": ["authenticated"]}]`. */
export const issuerList: Parser<readonly IssuerSetting[]> = (text) => {
  const wanted = problem(
    'must be a JSON list of {"issuer": URL, "audience": TEXT, "roles": [NAMES without service_role], "jwks": URL}',
  )
  const given = tryParseJson(text)
  const issuers = Array.isArray(given) ? given.map(issuerOf) : [null]
  const found = issuers.filter((one) => one !== null)
  return found.length === issuers.length ? value(found) : wanted
}

/** The address of metrics: that of the service, or a separate one. */
export type MetricsPlace = 'here' | { readonly host: string; readonly port: number }

/** `on`, or an address such as 127.0.0.1:9464 or [::1]:9464. */
export const metricsPlace: Parser<MetricsPlace> = (text) => {
  if (text === 'on') return value('here')
  const [, host = '', port = ''] = /^(?:\[([0-9a-fA-F:]+)\]|[^:\s]+):(\d{1,5})$/.exec(text) ?? []
  return port === '' || Number(port) > 65_535
    ? problem('must be on, or an address such as 127.0.0.1:9464')
    : value({ host: host === '' ? text.slice(0, text.lastIndexOf(':')) : host, port: Number(port) })
}

/** Names separated by commas; blanks around a name are ignored, an empty or repeated name is an error. */
export const nameList: Parser<readonly string[]> = (text) => {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) return problem('must be names separated by commas, none of them empty')
  return new Set(names).size === names.length ? value(names) : problem('names a schema twice')
}

/** A connection URL as libpq takes it (PostgreSQL manual, chapter libpq, section Connection URIs). */
export const postgresUrl: Parser<string> = (text) =>
  /^postgres(ql)?:\/\//.test(text) && hostUrls(text).every((url) => URL.canParse(url))
    ? value(text)
    : problem('must be a connection URL such as postgres://user:password@host:5432/database')

/** Connection URLs of one server each, separated by commas that a scheme follows. */
export const postgresUrls: Parser<readonly string[]> = (text) => {
  const urls = text.split(/,\s*(?=postgres(?:ql)?:\/\/)/).map((url) => url.trim())
  const isUrl = (url: string): boolean => postgresUrl(url).kind === 'value' && hostUrls(url).length === 1
  return urls.every(isUrl)
    ? value(urls)
    : problem(
        'must be connection URLs of one host each, separated by commas, such as postgres://user:password@host:5432/database',
      )
}

/** A web address without query and fragment; a trailing slash is dropped, so that paths can be joined to it. */
export const baseAddress: Parser<string> = (text) =>
  /^https?:\/\/[^?#@\s\\\p{Cc}]+$/u.test(text) && URL.canParse(text)
    ? value(text.replace(/\/+$/, ''))
    : problem('must be a web address such as https://project.example.com')

/** The name of a request header, in lower case (RFC 9110 section 5.1). */
export const headerName: Parser<string> = (text) =>
  /^[A-Za-z0-9-]+$/.test(text) ? value(text.toLowerCase()) : problem('must be the name of a header')

/** A mail server as an address: smtps:// uses TLS from the start, smtp:// STARTTLS (RFC 8314, RFC 3207). */
export const smtpUrl: Parser<string> = (text) =>
  /^smtps?:\/\/[^/\s]/.test(text) && URL.canParse(text)
    ? value(text)
    : problem('must be a connection URL such as smtps://user:password@mail.example.com:465')

/** A mail address, or a name with one in angle brackets (RFC 5322 section 3.4). */
export const mailbox: Parser<string> = (text) =>
  /^([^<>@\p{Cc}]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u.test(text)
    ? value(text)
    : problem('must be a mail address such as Example <no-reply@example.com>')
