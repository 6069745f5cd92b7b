import { HttpFailure } from '../../http/failures.ts'
import { lookAt, type Look, type BodyMember } from './body.ts'
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

/** The members of a body, and the extensions with a meaning. */
const names = {
  body: ['query', 'operationName', 'variables', 'extensions'],
  extensions: ['persistedQuery', 'explain', 'schemaReport'],
} as const

/** The members of a body, without long lists and objects. */
const lightened = (members: ReadonlyMap<string, BodyMember>, known: readonly string[] = names.body): string =>
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
  return inner === null ? 'null' : lightened(inner, names.extensions)
}

/**
 * The decoded query string of a GET -> GraphqlRequest (GraphQL over HTTP, section GET): `variables` and `extensions`
 * are JSON texts; mutations are forbidden. Throws HttpFailure of status 400.
 */
export function readQueryString(parameters: Readonly<Record<string, unknown>>): GraphqlRequest {
  const { query, operationName, variables, extensions } = parameters
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
