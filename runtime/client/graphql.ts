import { toAuthError } from './errors.ts'
import { send, refusalOf, type HttpOptions, type Received } from './http.ts'
import { isFields, parseJson, textOf, type Fields } from './json.ts'
import type { PresentSession } from './refresh.ts'
import { printDocument, type GraphqlNode } from './print-document.ts'

/**
 * A document with the types of its data and variables: a TypedDocumentNode or a TypedDocumentString of a code
 * generator. The member exists for the type checker only.
 */
export interface TypedDocument<Data, Variables> {
  readonly __apiType?: (variables: Variables) => Data
}

export interface GraphqlErrorEntry {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly extensions?: Fields & { readonly code?: string; readonly sqlstate?: string }
}

/** The failure of a request: the code of its first error, and all errors. Also without an answer. */
export class GraphqlError extends Error {
  override readonly name = 'GraphqlError'
  readonly code: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly errors: readonly GraphqlErrorEntry[]

  constructor(code: string, message: string, details: { status: number; errors?: readonly GraphqlErrorEntry[] }) {
    super(message)
    this.code = code
    this.status = details.status
    this.errors = details.errors ?? []
  }

  /** With the message, which JSON omits from errors. */
  toJSON(): object {
    return { ...this, message: this.message }
  }
}

/** After a failure nothing was changed: a request is one transaction. */
export type GraphqlResult<Data> = (
  | { readonly data: Data; readonly error: null }
  | { readonly data: null; readonly error: GraphqlError }
) & { readonly extensions: Fields }

export interface GraphqlOptions {
  /** The operation, if the document has several. */
  readonly operationName?: string
  /** For example `{ explain: true }`. */
  readonly extensions?: Fields
  readonly signal?: AbortSignal
}

/** Variables may be omitted if all of them are optional. */
export type VariablesAndOptions<Variables> = {} extends Variables
  ? [variables?: Variables, options?: GraphqlOptions]
  : [variables: Variables, options?: GraphqlOptions]

/** Sends a document as the signed-in user, or as anon. Never rejects. */
export interface Graphql {
  <Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...rest: VariablesAndOptions<Variables>
  ): Promise<GraphqlResult<Data>>
  <Data = Fields>(document: string, variables?: Fields, options?: GraphqlOptions): Promise<GraphqlResult<Data>>
}

export interface GraphqlParts extends HttpOptions {
  readonly present: PresentSession
}

export function createGraphql(parts: GraphqlParts): Graphql {
  let takesHashes = true
  /** By hash first; for an unknown hash the text is sent as well, and to a service without hashes the text alone. */
  const askByHash = async <Data>(
    hash: string,
    { query, ...body }: Fields,
    options: GraphqlOptions,
  ): Promise<GraphqlResult<Data>> => {
    const extensions = { ...options.extensions, persistedQuery: { version: 1, sha256Hash: hash } }
    const answered = await ask<Data>(parts, body, { ...options, extensions })
    if (answered.error?.code === 'PERSISTED_QUERY_NOT_FOUND')
      return ask(parts, { query, ...body }, { ...options, extensions })
    if (answered.error?.code !== 'PERSISTED_QUERY_NOT_SUPPORTED') return answered
    takesHashes = false
    return ask(parts, { query, ...body }, options)
  }
  return async (
    document: unknown,
    variables?: unknown,
    options: GraphqlOptions = {},
  ): Promise<GraphqlResult<never>> => {
    try {
      const body = { query: textOfDocument(document), variables }
      const hash = takesHashes ? hashOfDocument(document) : null
      return await (hash === null ? ask(parts, body, options) : askByHash(hash, body, options))
    } catch (thrown) {
      return { data: null, error: toGraphqlError(thrown), extensions: {} }
    }
  }
}

/** The SHA-256 of a generated document's text (`codegen --hashes`); null: none. */
function hashOfDocument(document: unknown): string | null {
  const meta = isFields(document) ? document['__meta__'] : undefined
  return isFields(meta) ? textOf(meta['hash']) : null
}

export function toGraphqlError(thrown: unknown): GraphqlError {
  if (thrown instanceof GraphqlError) return thrown
  const { code, message, status } = toAuthError(thrown)
  return new GraphqlError(code, message, { status })
}

/** Throws TypeError for an invalid document. */
export function textOfDocument(document: unknown): string {
  return isFields(document) && typeof document['kind'] === 'string'
    ? printDocument(document as unknown as GraphqlNode)
    : String(document)
}

async function ask<Data>(
  { url, key, fetch, present }: GraphqlParts,
  body: Fields,
  { operationName, extensions, signal }: GraphqlOptions,
): Promise<GraphqlResult<Data>> {
  const token = (await present.load())?.access_token ?? key
  const response = await send(fetch, `${url}/graphql/v1`, {
    method: 'POST',
    headers: headersOf(key, token, answerTypes),
    body: JSON.stringify({ ...body, operationName, extensions }),
    ...(signal !== undefined && { signal }),
  })
  return answerOf(response)
}

const answerTypes = 'application/graphql-response+json, application/json'

export const headersOf = (key: string, token: string, accept: string): Readonly<Record<string, string>> => ({
  apikey: key,
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept,
})

/** The received result; throws AuthError if it is not a GraphQL result. */
export function answerOf<Data>(response: Received): GraphqlResult<Data> {
  const answer = parseJson(response.text)
  if (!isFields(answer) || !('data' in answer || Array.isArray(answer['errors']))) throw refusalOf(response, answer)
  const errors = (answer['errors'] ?? []) as readonly GraphqlErrorEntry[]
  const sent = isFields(answer['extensions']) ? answer['extensions'] : {}
  if (errors[0] === undefined && answer['data'] != null)
    return { data: answer['data'] as Data, error: null, extensions: sent }
  return { data: null, error: errorOf(errors, response.status), extensions: sent }
}

export function errorOf(errors: readonly GraphqlErrorEntry[], status: number): GraphqlError {
  const [first] = errors
  const code = textOf(first?.extensions?.code) ?? 'bad_answer'
  return new GraphqlError(code, first?.message ?? 'The service sent neither data nor errors', { status, errors })
}
