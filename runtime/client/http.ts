import { AuthError, type AuthErrorDetails } from './errors.ts'
import { isFields, parseJson, textOf, type Fields } from './json.ts'

/** Parameters of an address; null and absent ones are omitted. */
export type AddressParameters = Readonly<Record<string, string | null | undefined>>

export interface AuthRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: AddressParameters
  readonly body?: Fields
  /** The user's access token; without one the project key is sent. */
  readonly token?: string
}

/** Calls the service. Returns the JSON of its answer, null for an empty one; throws only AuthError. */
export type Ask = (request: AuthRequest) => Promise<unknown>

export interface HttpOptions {
  /** Address of the project, without a trailing slash. */
  readonly url: string
  readonly key: string
  readonly fetch: typeof fetch
}

/** The service itself gives up after 10 s (spec/auth.md 2.3); a longer wait is useless. */
const patienceMs = 15_000
const apiVersion = '2024-01-01'

export function createAsk({ url, key, fetch }: HttpOptions): Ask {
  return async ({ method, path, query = {}, body, token = key }) => {
    const response = await send(fetch, `${url}/auth/v1${path}${queryText(query)}`, {
      method,
      headers: {
        apikey: key,
        authorization: `Bearer ${token}`,
        'x-supabase-api-version': apiVersion,
        'x-client-info': 'catalograph',
        ...(body !== undefined && { 'content-type': 'application/json;charset=UTF-8' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    })
    const answer = response.text === '' ? null : parseJson(response.text)
    if (!response.ok) throw refusalOf(response, answer)
    if (answer === undefined) throw new AuthError('bad_answer', 'The service sent no JSON', response)
    return answer
  }
}

/** The parameters of an address, with the question mark; empty if there are none. */
export function queryText(query: AddressParameters): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value != null) parameters.set(name, value)
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

export interface Received {
  readonly ok: boolean
  readonly status: number
  readonly retryAfter: number | null
  readonly text: string
}

/** Sends a request and reads the whole answer; without one, throws an AuthError. */
export async function send(request: typeof fetch, url: string, init: RequestInit): Promise<Received> {
  try {
    return await readWhole(await request(url, init))
  } catch (cause) {
    throw unreachable(cause)
  }
}

export const unreachable = (cause: unknown): AuthError =>
  new AuthError('network_failure', 'The service could not be reached', { cause })

/** Rejects as the body does. */
export async function readWhole(response: Response): Promise<Received> {
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
  return {
    ok: response.ok,
    status: response.status,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
    text: await response.text(),
  }
}

/** The error in an answer, in either form of the service or in OAuth's (spec/auth.md 2.4). */
export function refusalOf({ status, retryAfter }: Received, answer: unknown): AuthError {
  const fields = isFields(answer) ? answer : {}
  const code = textOf(fields['code']) ?? textOf(fields['error_code']) ?? textOf(fields['error'])
  const message = textOf(fields['message']) ?? textOf(fields['msg']) ?? textOf(fields['error_description'])
  const details: AuthErrorDetails = { status, retryAfter, reasons: reasonsOf(fields['weak_password']) }
  return new AuthError(code ?? codeOfStatus(status), message ?? `The service answered ${status}`, details)
}

function reasonsOf(weakPassword: unknown): readonly string[] {
  const reasons = isFields(weakPassword) ? weakPassword['reasons'] : null
  return Array.isArray(reasons) ? reasons.filter((reason) => typeof reason === 'string') : []
}

/** For answers of gateways and proxies without a code. */
function codeOfStatus(status: number): string {
  if (status === 401) return 'bad_api_key'
  if (status === 429) return 'over_request_rate_limit'
  return status >= 500 ? 'unavailable' : 'bad_answer'
}
