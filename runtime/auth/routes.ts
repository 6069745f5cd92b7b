import { adminRoutes } from './admin-routes.ts'
import { challengeFactor, enrolFactor, unenrolFactor } from './endpoints/factors.ts'
import { authorize } from './endpoints/authorize.ts'
import { callback } from './endpoints/callback.ts'
import { health } from './endpoints/health.ts'
import { authorizeIdentity, unlinkIdentity } from './endpoints/identities.ts'
import { jwks } from './endpoints/jwks.ts'
import { logout } from './endpoints/logout.ts'
import { magicLink, otp } from './endpoints/otp.ts'
import { publicSettings } from './endpoints/public-settings.ts'
import { reauthenticate } from './endpoints/reauthenticate.ts'
import { recover } from './endpoints/recover.ts'
import { resend } from './endpoints/resend.ts'
import { signUp } from './endpoints/sign-up.ts'
import { sso } from './endpoints/sso.ts'
import { token } from './endpoints/token.ts'
import { getUser, updateUser } from './endpoints/user.ts'
import { verify } from './endpoints/verify.ts'
import { verifyLink } from './endpoints/verify-link.ts'
import { verifyFactor } from './endpoints/verify-factor.ts'
import type { Route } from './route.ts'

const [none, no, yes] = ['none', false, true] as const

/**
 * Every endpoint: who may call it, how sure of the caller it has to be, what limits it, whether its refusals count
 * towards closing an address, what its body is. Reading this is reading auth. route.ts explains the columns.
 */
export const routes: readonly Route[] = [
  { at: 'GET /health', guard: 'open', assurance: none, limit: none, counted: no, body: none, handle: health },
  { at: 'GET /settings', guard: 'key', assurance: none, limit: none, counted: no, body: none, handle: publicSettings },
  {
    at: 'GET /.well-known/jwks.json',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    body: none,
    handle: jwks,
  },
  // Guests have a limit of their own: the endpoint knows who is one.
  { at: 'POST /signup', guard: 'key', assurance: none, limit: none, counted: yes, body: 'json', handle: signUp },
  { at: 'POST /token', guard: 'key', assurance: none, limit: 'token', counted: yes, body: 'json', handle: token },
  { at: 'POST /otp', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, body: 'json', handle: otp },
  {
    at: 'POST /magiclink',
    guard: 'key',
    assurance: none,
    limit: 'sign-up',
    counted: yes,
    body: 'json',
    handle: magicLink,
  },
  { at: 'POST /recover', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, body: 'json', handle: recover },
  { at: 'POST /resend', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, body: 'json', handle: resend },
  { at: 'POST /verify', guard: 'open', assurance: none, limit: 'verify', counted: yes, body: 'json', handle: verify },
  { at: 'GET /verify', guard: 'open', assurance: none, limit: 'verify', counted: yes, body: none, handle: verifyLink },
  {
    at: 'GET /reauthenticate',
    guard: 'user',
    assurance: none,
    limit: 'sign-up',
    counted: no,
    body: none,
    handle: reauthenticate,
  },
  { at: 'GET /user', guard: 'user', assurance: none, limit: none, counted: no, body: none, handle: getUser },
  { at: 'PUT /user', guard: 'user', assurance: none, limit: 'sign-up', counted: no, body: 'json', handle: updateUser },
  { at: 'POST /logout', guard: 'user', assurance: none, limit: none, counted: no, body: none, handle: logout },
  { at: 'GET /authorize', guard: 'open', assurance: none, limit: none, counted: no, body: none, handle: authorize },
  { at: 'GET /callback', guard: 'open', assurance: none, limit: none, counted: no, body: none, handle: callback },
  { at: 'POST /callback', guard: 'open', assurance: none, limit: none, counted: no, body: 'form', handle: callback },
  {
    at: 'GET /user/identities/authorize',
    guard: 'user',
    assurance: 'session',
    limit: none,
    counted: no,
    body: none,
    handle: authorizeIdentity,
  },
  {
    at: 'DELETE /user/identities/:identity_id',
    guard: 'user',
    assurance: 'session',
    limit: none,
    counted: no,
    body: none,
    handle: unlinkIdentity,
  },
  // A code has six digits: whoever guesses one of a factor counts like whoever guesses a mailed one.
  {
    at: 'POST /factors',
    guard: 'user',
    assurance: 'member',
    limit: none,
    counted: no,
    body: 'json',
    handle: enrolFactor,
  },
  {
    at: 'POST /factors/:factor_id/challenge',
    guard: 'user',
    assurance: 'member',
    limit: 'factor',
    counted: no,
    body: 'json',
    handle: challengeFactor,
  },
  {
    at: 'POST /factors/:factor_id/verify',
    guard: 'user',
    assurance: 'member',
    limit: 'factor',
    counted: yes,
    body: 'json',
    handle: verifyFactor,
  },
  {
    at: 'DELETE /factors/:factor_id',
    guard: 'user',
    assurance: 'member',
    limit: none,
    counted: no,
    body: none,
    handle: unenrolFactor,
  },
  { at: 'POST /sso', guard: 'key', assurance: none, limit: none, counted: no, body: 'json', handle: sso },
  ...adminRoutes,
]
