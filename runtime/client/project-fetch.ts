import type { HttpOptions } from './http.ts'
import type { PresentSession } from './refresh.ts'

export interface ProjectFetchOptions extends HttpOptions {
  readonly present: PresentSession
}

/**
 * A `fetch` for the project: adds the project key and the signed-in user's token. Paths are relative to the project;
 * requests to other hosts get neither. Rejects as fetch does, and with an AuthError if a session cannot be refreshed,
 * because the same request as anon would mean something else.
 */
export function createProjectFetch({ url, key, fetch, present }: ProjectFetchOptions): typeof fetch {
  const base = new URL(`${url}/`)
  return async (input, init) => {
    const request = new Request(typeof input === 'string' ? resolve(base, input) : input, init)
    const target = new URL(request.url)
    if (target.origin !== base.origin || !target.pathname.startsWith(base.pathname)) return fetch(request)
    refuseTravel(typeof input === 'string' ? input : target.href)
    const token = request.headers.has('authorization') ? null : ((await present.load())?.access_token ?? key)
    if (token !== null) request.headers.set('authorization', `Bearer ${token}`)
    if (!request.headers.has('apikey')) request.headers.set('apikey', key)
    return fetch(request)
  }
}

const resolve = (base: URL, input: string): string =>
  /^[a-z][a-z\d+.-]*:/i.test(input) ? input : base.href + input.replace(/^\/+/, '')

/** A foreign id must not lead to another endpoint (spec/auth.md, attack 30). */
function refuseTravel(address: string): void {
  const [path = ''] = address.split(/[?#]/)
  if (/%2f|%5c|\\|\/(\.|%2e){1,2}(\/|$)/i.test(path)) throw new TypeError(`${path} leads out of where it begins`)
}
