import { randomUUID } from 'node:crypto'
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql'
import { addedKey } from '../../../runtime/identity/project-keys.ts'
import { isJsonObject, tryParseJson } from '../../../runtime/lib/json.ts'
import { messageOf } from '../../../runtime/lib/text.ts'
import { CommandFailure } from '../command.ts'
import type { SchemaSource } from './source.ts'

/** The credentials for a service. */
export interface ServiceCredentials {
  /** The project key. */
  readonly key: string
  /** The token of the role whose schema is requested. */
  readonly token: string
}

const answerWithinMs = 60_000

/** With the project's secret any role can be used, by new keys: those of the project may be revoked. */
export const credentialsOfSecret = (secret: string, role: string): ServiceCredentials => {
  const sign = (of: string): string => addedKey(of, randomUUID(), secret)
  return { key: sign('anon'), token: sign(role) }
}

/** A project key has its own role. Throws CommandFailure if that is another one. */
export function credentialsOfKey(key: string, role: string): ServiceCredentials {
  const own = roleOf(key)
  if (own === role) return { key, token: key }
  throw new CommandFailure(
    own === null
      ? '--key is not a project key'
      : `--key is the key of ${own}; for ${role} the JWT_SECRET of the project is needed`,
  )
}

function roleOf(key: string): string | null {
  const claims = tryParseJson(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return isJsonObject(claims) && typeof claims['role'] === 'string' ? claims['role'] : null
}

/** A running service, by introspection: it shows the schemas that opted in to it. */
export function serviceSource(address: string, credentials: ServiceCredentials): SchemaSource {
  const base = address.replace(/\/+$/, '')
  const ask = (query: string): Promise<unknown> => graphql(base, credentials, query)
  return {
    name: base,
    version: async () => {
      // The service checks its schema on each request.
      await ask('{ __typename }')
      const { revision } = (await jsonAnswer(await fetchOrFail(`${base}/health`, {}))) as { revision?: unknown }
      return String(revision)
    },
    load: async () => {
      const query = getIntrospectionQuery({ inputValueDeprecation: false })
      return buildClientSchema((await ask(query)) as IntrospectionQuery)
    },
  }
}

async function graphql(base: string, { key, token }: ServiceCredentials, query: string): Promise<unknown> {
  const response = await fetchOrFail(`${base}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: key, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data, errors, message } = (await jsonAnswer(response)) as GraphqlAnswer
  if (data != null && errors === undefined) return data
  const said = errors?.[0]?.message ?? message ?? `status ${response.status}`
  const hint = /introspection/i.test(said)
    ? '; switch introspection on for the schema, or generate from the database or from artifacts'
    : ''
  throw new CommandFailure(`${base} answers: ${said}${hint}`)
}

interface GraphqlAnswer {
  readonly data?: unknown
  readonly errors?: readonly { readonly message?: string }[]
  readonly message?: string
}

async function fetchOrFail(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(answerWithinMs) })
  } catch (error) {
    const cause = (error as Error).cause
    throw new CommandFailure(`${url} does not answer: ${messageOf(cause ?? error)}`)
  }
}

async function jsonAnswer(response: Response): Promise<object> {
  const answer: unknown = await response.json().catch(() => null)
  if (typeof answer === 'object' && answer !== null) return answer
  throw new CommandFailure(`${response.url} answers something else than a Catalograph service does`)
}
