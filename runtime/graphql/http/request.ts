import { HttpFailure } from '../../http/boundary.ts'
import { isDeeperThan, isJsonObject, mayHoldOthers, parseJson } from '../../lib/json.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Deeper values have no use, and later code may walk them recursively. */
const deepestBody = 512

const noObject = 'The body must be a JSON object.'
const tooDeep = 'The body is nested too deeply.'

/** HTTP body -> GraphqlRequest (GraphQL over HTTP, section POST). Throws HttpFailure of status 400. */
export function readBody(text: string): GraphqlRequest {
  return readParameters(readObject(text, noObject), false)
}

/** A shorter body cannot hold more values than the event loop can read at once. */
const longBody = 4_096

/** A value count that is read within some milliseconds, and bound to a statement within some more. */
const maxWeight = 6_000

/** For strings, the parser that keeps numbers exact is a hundred times slower than JSON.parse. */
const longExactBody = 65_536

/** The same, but a part that would block the event loop is left `unread`: the reader thread reports its errors. */
export function readBodyQuickly(text: string): GraphqlRequest {
  if (text.length <= longBody) return readBody(text)
  const look = lookAt(text)
  if (isQuick(text, look)) return readParameters(readLooked(text, look), false)
  if (look.members === null) throw new HttpFailure('BODY_MALFORMED', noObject)
  const request = readParameters(readLooked(lightened(look.members), { ...look, hasExactNumber: false }), false)
  return { ...request, variables: {}, unread: text }
}

const isQuick = (text: string, { weight, hasExactNumber }: Look): boolean =>
  weight <= maxWeight && (!hasExactNumber || text.length <= longExactBody)

function readLooked(text: string, { depth, hasExactNumber }: Look): JsonObject {
  const value = tryParse(text, hasExactNumber)
  if (!isJsonObject(value)) throw new HttpFailure('BODY_MALFORMED', noObject)
  if (depth > deepestBody) throw new HttpFailure('BODY_MALFORMED', tooDeep)
  return value
}

const bodyMembers = ['query', 'operationName', 'variables', 'extensions']

/** The members of a body, without long lists and objects. */
const lightened = (members: ReadonlyMap<string, BodyMember>, known: readonly string[] = bodyMembers): string =>
  `{${known
    .flatMap((name) => {
      const member = members.get(name)
      return member === undefined
        ? []
        : `"${name}":${member.weight <= maxWeight ? member.text : shortened(name, member)}`
    })
    .join(',')}}`

function shortened(name: string, { text }: BodyMember): string {
  const inner = name === 'extensions' ? lookAt(text).members : null
  return inner === null
    ? 'null'
    : lightened(
        inner,
        [...inner.keys()].filter((key) => isMeant(key, inner.get(key))),
      )
}

/** An extension is asked for by `true`; a hash is an object. */
const isMeant = (name: string, member: BodyMember | undefined): boolean =>
  name === 'persistedQuery' || member?.text.trim() === 'true'

/**
 * The query string of a GET -> GraphqlRequest (GraphQL over HTTP, section GET): `variables` and `extensions` are JSON
 * texts; mutations are forbidden. Throws HttpFailure of status 400.
 */
export function readQueryString(search: URLSearchParams): GraphqlRequest {
  const { query, operationName, variables, extensions } = parametersOf(search)
  return readParameters(
    {
      query,
      operationName,
      variables: readEmbedded(variables, 'variables must be an object'),
      extensions: readEmbedded(extensions, 'extensions must be an object'),
    },
    true,
  )
}

/** A repeated name has a list, which no parameter accepts. */
const parametersOf = (search: URLSearchParams): JsonObject =>
  Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const [first, ...others] = search.getAll(name)
      return [name, others.length === 0 ? first : [first, ...others]]
    }),
  )

function readParameters(parameters: JsonObject, queryOnly: boolean): GraphqlRequest {
  const extensions = objectOrEmpty(parameters['extensions'], 'extensions must be an object')
  return {
    query: readQuery(parameters['query'], extensions),
    operationName: readOperationName(parameters['operationName']),
    variables: objectOrEmpty(parameters['variables'], 'variables must be an object'),
    extensions,
    queryOnly,
  }
}

function readQuery(query: unknown, extensions: JsonObject): string | null {
  if (typeof query === 'string') return query
  const absent = query === undefined || query === null
  if (absent && hasPersistedHash(extensions)) return null
  throw new HttpFailure('QUERY_MISSING')
}

function hasPersistedHash(extensions: JsonObject): boolean {
  const persisted = extensions['persistedQuery']
  return isJsonObject(persisted) && typeof persisted['sha256Hash'] === 'string'
}

/** Clients with a single operation send nothing, null or an empty text. */
function readOperationName(name: unknown): string | null {
  if (name === undefined || name === null || name === '') return null
  if (typeof name === 'string') return name
  throw new HttpFailure('REQUEST_MALFORMED', 'operationName must be a string')
}

function objectOrEmpty(value: unknown, message: string): JsonObject {
  if (value === undefined || value === null) return {}
  if (isJsonObject(value)) return value
  throw new HttpFailure('REQUEST_MALFORMED', message)
}

function readEmbedded(text: unknown, message: string): unknown {
  if (text === undefined || text === '' || text === 'null') return undefined
  if (typeof text === 'string') return readObject(text, message)
  throw new HttpFailure('REQUEST_MALFORMED', message)
}

function readObject(text: string, message: string): JsonObject {
  const value = tryParse(text)
  if (!isJsonObject(value)) throw new HttpFailure('BODY_MALFORMED', message)
  // Each level takes two brackets.
  if (text.length > 2 * deepestBody && isDeeperThan(value, deepestBody))
    throw new HttpFailure('BODY_MALFORMED', tooDeep)
  return value
}

/**
 * Undefined if the text is not JSON; a text that is too deep for the parser has its own result. The parser that keeps
 * all digits is slow: it is used only for numbers that need it, not for strings that look like them.
 */
function tryParse(text: string, isExact = mayHoldOthers(text) && lookAt(text).hasExactNumber): unknown {
  try {
    return isExact ? parseJson(text) : JSON.parse(text)
  } catch (error) {
    if (error instanceof RangeError) throw new HttpFailure('BODY_MALFORMED', tooDeep)
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Properties of a body's text, found without parsing it. JSON.parse takes a quarter of a second for a megabyte of
 * brackets; this scan takes a hundredth of that.
 */
interface Look {
  /** The cost of parsing: one per item of a list or object, and several for each list or object and for a long text. */
  readonly weight: number
  /** The maximum nesting of brackets. */
  readonly depth: number
  /** A number outside of strings may not fit a double, or may print with other digits. */
  readonly hasExactNumber: boolean
  /** The members of an object as they are written, the last of those with equal names; null: not an object. */
  readonly members: ReadonlyMap<string, BodyMember> | null
}

interface BodyMember {
  readonly text: string
  readonly weight: number
}

const bracketWeight = 4

/** A text may be a cursor, which is parsed as JSON; the document's text is not among the values. */
const charactersPerValue = 16

/** Numbers shorter than this are exact in a double. */
const manyDigits = 16

const [quote, comma, colon, backslash, dot, zero] = [34, 44, 58, 92, 46, 48]
const [smallE, largeE] = [101, 69]
const [openCurly, closeCurly, openSquare, closeSquare] = [123, 125, 91, 93]

/** Follows the brackets of a text; invalid JSON is found by the parser. */
export function lookAt(text: string): Look {
  const members = createMembers(text)
  let weight = 0
  let open = 0
  let depth = 0
  let digits = 0
  let isFraction = false
  let isExact = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) {
      digits += 1
      continue
    }
    if (digits > 0) {
      // Digits on both sides of a point belong to one number.
      if (code === dot) {
        isFraction = true
        continue
      }
      if (code === smallE || code === largeE || digits >= manyDigits) isExact = true
      if (isFraction && text.charCodeAt(at - 1) === zero) isExact = true
      digits = 0
      isFraction = false
    }
    if (code === quote) {
      const end = endOfText(text, at + 1)
      if (open === 1) members.text(at, end)
      else weight += (end - at) / charactersPerValue
      at = end
    } else if (code === openCurly || code === openSquare) {
      open += 1
      weight += bracketWeight
      if (open > depth) depth = open
    } else if (code === colon) {
      if (open === 1) members.begin(at + 1, weight)
    } else if (code === comma || code === closeCurly || code === closeSquare) {
      if (open === 1) members.end(at, weight)
      if (code === comma) weight += 1
      else open -= 1
    }
  }
  return {
    weight,
    depth,
    hasExactNumber: isExact || digits >= manyDigits,
    members: isObject(text) ? members.found : null,
  }
}

function createMembers(text: string) {
  const found = new Map<string, BodyMember>()
  let key: string | null = null
  let start: number | null = null
  let before = 0
  return {
    found,
    text: (from: number, to: number): void => {
      if (start === null) key = text.slice(from + 1, to)
    },
    begin: (from: number, weight: number): void => {
      start ??= from
      before = weight
    },
    end: (to: number, weight: number): void => {
      if (key !== null && start !== null)
        found.set(nameOf(key), { text: text.slice(start, to), weight: weight - before })
      key = start = null
    },
  }
}

/** A name may contain escapes. */
function nameOf(key: string): string {
  if (!key.includes('\\')) return key
  try {
    return String(JSON.parse(`"${key}"`))
  } catch {
    return key
  }
}

const isObject = (text: string): boolean => /^[ \t\n\r]*\{/.test(text)

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Texts with more quotation marks in them are read character by character. */
const fewMarks = 100

function endOfText(text: string, from: number): number {
  let at = from
  for (let marks = 0; marks < fewMarks; marks += 1) {
    const mark = text.indexOf('"', at)
    if (mark < 0) return text.length
    if (!isEscaped(text, at, mark)) return mark
    at = mark + 1
  }
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

/** @param from no earlier backslash escapes anything after it */
function isEscaped(text: string, from: number, place: number): boolean {
  let first = place
  while (first > from && text.charCodeAt(first - 1) === backslash) first -= 1
  return (place - first) % 2 === 1
}
