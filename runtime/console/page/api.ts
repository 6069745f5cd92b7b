import { createClient, type RequestParams } from 'graphql-sse'
import type { RefusalAnswer } from '../admin/call.ts'

/** Calls to the project that serves this page, with the key that its owner entered. */

export type Refusal = RefusalAnswer

export interface Answered<T> {
  readonly kind: 'answer'
  readonly value: T
  readonly headers: Headers
}

export type Result<T> = Answered<T> | { readonly kind: 'refused'; readonly refusal: Refusal }

export interface Api {
  /** `path` below the project's address, as `admin/v1/settings`. Never rejects. */
  readonly call: <T>(method: Method, path: string, body?: unknown, bearer?: string) => Promise<Result<T>>
  /** Sends a document as the key's role or as the user of the bearer token. Rejects only without an answer. */
  readonly graphql: (request: GraphqlParams, bearer?: string) => Promise<GraphqlAnswer>
  /** The same, with plans among the extensions. */
  readonly explain: (request: GraphqlParams, bearer?: string) => Promise<GraphqlAnswer>
  /** The answers of a subscription, until it ends or the reader leaves. Rejects if the connection is lost. */
  readonly stream: (request: GraphqlParams, bearer?: string) => AsyncIterableIterator<GraphqlAnswer>
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface GraphqlParams {
  readonly query: string
  readonly variables?: unknown
  readonly operationName?: string | null | undefined
}

export interface GraphqlAnswer {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string }[]
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** The page is `dashboard` below the project's address, which may have a path of a proxy. */
const base = (): string => new URL('.', document.baseURI).href

/** The address of a role's whole API. */
export const schemaPath = (role: string): string => `admin/v1/schema?role=${encodeURIComponent(role)}`

/** The address of the schema report on a role. */
export const reportPath = (role: string): string => `admin/v1/report?role=${encodeURIComponent(role)}`

const silent: Refusal = { code: 'offline', message: 'The project does not answer. Is it running?' }

export function createApi(key: string): Api {
  const send = (method: Method, path: string, body: unknown, bearer: string): Promise<Response> =>
    fetch(base() + path, {
      method,
      headers: {
        apikey: key,
        authorization: `Bearer ${bearer}`,
        'x-supabase-api-version': '2024-01-01',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const ask = async (path: string, request: GraphqlParams, bearer: string): Promise<GraphqlAnswer> =>
    (await send('POST', path, request, bearer)).json() as Promise<GraphqlAnswer>
  return {
    call: async <T>(method: Method, path: string, body?: unknown, bearer = key) => {
      try {
        const response = await send(method, path, body, bearer)
        const value: unknown = await response.json()
        return response.ok
          ? { kind: 'answer', value: value as T, headers: response.headers }
          : { kind: 'refused', refusal: value as Refusal }
      } catch {
        return { kind: 'refused', refusal: silent }
      }
    },
    graphql: (request, bearer = key) => ask('graphql/v1', request, bearer),
    explain: (request, bearer = key) => ask('admin/v1/graphql', request, bearer),
    stream: (request, bearer = key) => {
      const headers = { apikey: key, authorization: `Bearer ${bearer}` }
      const client = createClient({ url: `${base()}graphql/v1`, headers, retryAttempts: 0, fetchFn: fetchStream })
      return client.iterate<GraphqlAnswer['data']>(request as RequestParams) as AsyncIterableIterator<GraphqlAnswer>
    },
  }
}

/** A refusal instead of a stream, with the sentence of the service. */
const fetchStream: typeof fetch = async (...asked) => {
  const response = await fetch(...asked)
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return response
  const { errors } = (await response.json()) as GraphqlAnswer
  throw new Error(errors?.[0]?.message ?? silent.message)
}
