/**
 * In a project with replicas, the answer to a write has its position, which a replica must reach to show the write
 * (docs/scale.md, Replicas). Later requests send it.
 */
const header = 'catalograph-position'

/** A `fetch` that keeps the latest position of the project's answers, and sends it with requests to the project. */
export function followWrites(url: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  let latest = ''
  return async (input, init) => {
    const address = input instanceof Request ? input.url : String(input)
    if (!address.startsWith(`${url}/`)) return fetch(input, init)
    const response = await (latest === ''
      ? fetch(input, init)
      : fetch(input, { ...init, headers: withLatest(input, init, latest) }))
    latest = later(latest, response.headers.get(header) ?? '')
    return response
  }
}

function withLatest(input: string | URL | Request, init: RequestInit | undefined, latest: string): Headers {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
  headers.set(header, latest)
  return headers
}

/** Timeline/high/low: the timeline is decimal, the others are hexadecimal. */
const orderOf = (position: string): string =>
  position
    .split('/')
    .map((part) => part.padStart(9, '0'))
    .join()

const later = (one: string, other: string): string => (orderOf(other) > orderOf(one) ? other : one)
