/** The fields in a page's address when the service redirects to it (spec/auth.md 4.13 and 6.4). */
export type Landing =
  | { readonly kind: 'tokens'; readonly parameters: URLSearchParams }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

const fragmentNames = [
  'access_token',
  'refresh_token',
  'expires_at',
  'expires_in',
  'token_type',
  'type',
  'provider_token',
  'provider_refresh_token',
  'sb',
  'error',
  'error_code',
  'error_description',
]
const queryNames = ['code', 'error', 'error_code', 'error_description']

/** Null for an ordinary visit, including a bare `error`: applications have parameters of that name. */
export function landingOf(href: string): Landing | null {
  const { searchParams, hash } = new URL(href)
  const fragment = new URLSearchParams(hash.slice(1))
  const get = (name: string): string | null => searchParams.get(name) ?? fragment.get(name)
  const [code, description] = [get('error_code'), get('error_description')]
  if (code !== null || description !== null)
    return { kind: 'refused', code: code ?? get('error') ?? 'unexpected_failure', message: description ?? 'Refused' }
  if (fragment.has('access_token')) return { kind: 'tokens', parameters: fragment }
  const authCode = searchParams.get('code')
  return authCode === null ? null : { kind: 'code', code: authCode }
}

/** The address without the fields of the service. */
export function withoutLanding(href: string): string {
  const url = new URL(href)
  const fragment = new URLSearchParams(url.hash.slice(1))
  const isOurs = fragmentNames.some((name) => name !== 'type' && fragment.has(name))
  for (const name of queryNames) url.searchParams.delete(name)
  for (const name of isOurs ? fragmentNames : []) fragment.delete(name)
  if (isOurs) url.hash = fragment.toString()
  return url.href
}
