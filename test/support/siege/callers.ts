import { httpRequest } from '../../../bench/support/http-client.ts'
import { personCount, personId } from './schema.ts'
import type { Town } from './town.ts'

/** How a caller presents itself. */
export interface Caller {
  readonly role: 'anon' | 'authenticated' | 'service_role'
  /** The `sub` of the token; null: there is none. */
  readonly sub: string | null
  readonly headers: Readonly<Record<string, string>>
}

export const anonOf = ({ keys }: Pick<Town, 'keys'>): Caller => ({
  role: 'anon',
  sub: null,
  headers: { apikey: keys.anon },
})

export const serviceOf = ({ keys }: Pick<Town, 'keys'>): Caller => ({
  role: 'service_role',
  sub: null,
  headers: { apikey: keys.serviceRole },
})

export const signedIn = ({ keys, tokenOf }: Pick<Town, 'keys' | 'tokenOf'>, sub: string): Caller =>
  withToken({ keys }, sub, tokenOf({ sub, role: 'authenticated', aal: 'aal1', is_anonymous: false }))

export const withToken = ({ keys }: Pick<Town, 'keys'>, sub: string, token: string): Caller => ({
  role: 'authenticated',
  sub,
  headers: { apikey: keys.anon, authorization: `Bearer ${token}` },
})

/** The honest people. */
export const people = (town: Pick<Town, 'keys' | 'tokenOf'>): readonly Caller[] =>
  Array.from({ length: personCount }, (_, index) => signedIn(town, personId(index)))

/** The bytes of a request for a document. */
export const asking = ({ headers }: Caller, query: string, variables: Readonly<Record<string, unknown>> = {}): Buffer =>
  httpRequest({ path: '/graphql/v1', headers, body: { query, variables } })
