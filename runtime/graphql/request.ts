import { HttpFailure } from '../http/failures.ts'
import { isDeeperThan, isJsonObject, parseJson } from './json.ts'
import type { GraphqlRequest } from './types.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Deeper values are of no use, and what walks them later may walk by recursion. */
const deepestBody = 512

/** HTTP body -> GraphqlRequest (GraphQL over HTTP, section POST). Throws HttpFailure of status 400. */
export function readBody(text: string): GraphqlRequest {
  return readParameters(readObject(text, 'The body must be a JSON object.'), false)
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

/** Clients that have one operation send nothing, null or an empty text. */
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
  if (text.length > 2 * deepestBody && isDeeperThan(value, deepestBody)) throw new HttpFailure('BODY_MALFORMED', 'The body is nested too deeply.')
  return value
}

/** Undefined when the text is no JSON; a text that is too deep for the parser is told apart. */
function tryParse(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof RangeError) throw new HttpFailure('BODY_MALFORMED', 'The body is nested too deeply.')
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
