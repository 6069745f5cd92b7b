import type { ProjectAnswer, TokenAnswer } from '../admin/call.ts'
import type { Api, Result } from './api.ts'

export type Whom =
  | { readonly kind: 'anon' }
  | { readonly kind: 'service' }
  | { readonly kind: 'user'; readonly id: string; readonly name: string; readonly role: string }

export const roleOf = (whom: Whom): string => {
  switch (whom.kind) {
    case 'anon':
      return 'anon'
    case 'service':
      return 'service_role'
    case 'user':
      return whom.role
  }
}

export const nameOfWhom = (whom: Whom): string => (whom.kind === 'user' ? whom.name : roleOf(whom))

/** Returns the bearer token of a role or user: that of a user is requested on demand and renewed before it expires. */
export type BearerOf = (whom: Whom) => Promise<Result<string | undefined>>

const known = <T>(value: T): Result<T> => ({ kind: 'answer', value, headers: new Headers() })

/** The seconds before its expiry from which a token is not used. */
const reserve = 30

export function createBearers(api: Api, { anon_key }: ProjectAnswer): BearerOf {
  const tokens = new Map<string, TokenAnswer>()
  return async (whom) => {
    if (whom.kind === 'service') return known(undefined)
    if (whom.kind === 'anon') return known(anon_key)
    const held = tokens.get(whom.id)
    if (held !== undefined && held.expires_at - reserve > Date.now() / 1000) return known(held.access_token)
    const asked = await api.call<TokenAnswer>('POST', 'admin/v1/tokens', { user_id: whom.id })
    if (asked.kind === 'refused') return asked
    tokens.set(whom.id, asked.value)
    return known(asked.value.access_token)
  }
}
