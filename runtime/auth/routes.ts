import { health } from './endpoints/health.ts'
import { jwks } from './endpoints/jwks.ts'
import { logout } from './endpoints/logout.ts'
import { publicSettings } from './endpoints/public-settings.ts'
import { signUp } from './endpoints/sign-up.ts'
import { token } from './endpoints/token.ts'
import { getUser, updateUser } from './endpoints/user.ts'
import type { Route } from './route.ts'

const [none, no, yes] = ['none', false, true] as const

/**
 * Every endpoint: who may call it, how sure of the caller it has to be, what limits it, whether its refusals count
 * towards closing an address, what its body is. Reading this is reading auth. route.ts explains the columns.
 */
export const routes: readonly Route[] = [
  { at: 'GET /health', guard: 'open', assurance: none, limit: none, counted: no, body: none, handle: health },
  { at: 'GET /settings', guard: 'key', assurance: none, limit: none, counted: no, body: none, handle: publicSettings },
  { at: 'GET /.well-known/jwks.json', guard: 'open', assurance: none, limit: none, counted: no, body: none, handle: jwks },
  { at: 'POST /signup', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, body: 'json', handle: signUp },
  { at: 'POST /token', guard: 'key', assurance: none, limit: 'token', counted: yes, body: 'json', handle: token },
  { at: 'GET /user', guard: 'user', assurance: none, limit: none, counted: no, body: none, handle: getUser },
  { at: 'PUT /user', guard: 'user', assurance: none, limit: 'sign-up', counted: no, body: 'json', handle: updateUser },
  { at: 'POST /logout', guard: 'user', assurance: none, limit: none, counted: no, body: none, handle: logout },
]
