import { adminRoutes } from './admin-routes.ts'
import { challengeFactor, enrolFactor, unenrolFactor } from '../endpoints/factors.ts'
import { authorize } from '../endpoints/authorize.ts'
import { callback } from '../endpoints/callback.ts'
import { health } from '../endpoints/health.ts'
import { authorizeIdentity, unlinkIdentity } from '../endpoints/identities.ts'
import { jwks } from '../endpoints/jwks.ts'
import { logout } from '../endpoints/logout.ts'
import { magicLink, otp } from '../endpoints/otp.ts'
import { publicSettings } from '../endpoints/public-settings.ts'
import { reauthenticate } from '../endpoints/reauthenticate.ts'
import { recover } from '../endpoints/recover.ts'
import { resend } from '../endpoints/resend.ts'
import { signUp } from '../endpoints/sign-up.ts'
import { sso } from '../endpoints/sso.ts'
import { token } from '../endpoints/token.ts'
import { getUser, updateUser } from '../endpoints/user.ts'
import { verify } from '../endpoints/verify.ts'
import { verifyLink } from '../endpoints/verify-link.ts'
import { verifyFactor } from '../endpoints/verify-factor.ts'
import * as io from './io/user.ts'
import type { Route } from './route.ts'

const [none, no, yes] = ['none', false, true] as const

/**
 * Every endpoint: who may call it, how sure of the caller it has to be, what limits it, whether its refusals count
 * towards closing an address, what it takes and answers. Reading this is reading auth. route.ts explains the columns.
 */
export const routes: readonly Route[] = [
  { at: 'GET /health', guard: 'probe', assurance: none, limit: none, counted: no, io: io.health, handle: health },
  {
    at: 'GET /settings',
    guard: 'key',
    assurance: none,
    limit: none,
    counted: no,
    io: io.publicSettings,
    handle: publicSettings,
  },
  {
    at: 'GET /.well-known/jwks.json',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.jwks,
    handle: jwks,
  },
  // Guests have a limit of their own: the endpoint knows who is one.
  { at: 'POST /signup', guard: 'key', assurance: none, limit: none, counted: yes, io: io.signUp, handle: signUp },
  { at: 'POST /token', guard: 'key', assurance: none, limit: 'token', counted: yes, io: io.token, handle: token },
  { at: 'POST /otp', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, io: io.otp, handle: otp },
  {
    at: 'POST /magiclink',
    guard: 'key',
    assurance: none,
    limit: 'sign-up',
    counted: yes,
    io: io.magicLink,
    handle: magicLink,
  },
  {
    at: 'POST /recover',
    guard: 'key',
    assurance: none,
    limit: 'sign-up',
    counted: yes,
    io: io.recover,
    handle: recover,
  },
  { at: 'POST /resend', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, io: io.resend, handle: resend },
  { at: 'POST /verify', guard: 'open', assurance: none, limit: 'verify', counted: yes, io: io.verify, handle: verify },
  {
    at: 'GET /verify',
    guard: 'open',
    assurance: none,
    limit: 'verify',
    counted: yes,
    io: io.verifyLink,
    handle: verifyLink,
  },
  {
    at: 'GET /reauthenticate',
    guard: 'user',
    assurance: none,
    limit: 'sign-up',
    counted: no,
    io: io.reauthenticate,
    handle: reauthenticate,
  },
  { at: 'GET /user', guard: 'user', assurance: none, limit: none, counted: no, io: io.getUser, handle: getUser },
  {
    at: 'PUT /user',
    guard: 'user',
    assurance: none,
    limit: 'sign-up',
    counted: no,
    io: io.updateUser,
    handle: updateUser,
  },
  { at: 'POST /logout', guard: 'user', assurance: none, limit: none, counted: no, io: io.logout, handle: logout },
  {
    at: 'GET /authorize',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.authorize,
    handle: authorize,
  },
  { at: 'GET /callback', guard: 'open', assurance: none, limit: none, counted: no, io: io.callback, handle: callback },
  {
    at: 'POST /callback',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.callbackForm,
    handle: callback,
  },
  {
    at: 'GET /user/identities/authorize',
    guard: 'user',
    assurance: 'session',
    limit: none,
    counted: no,
    io: io.authorizeIdentity,
    handle: authorizeIdentity,
  },
  {
    at: 'DELETE /user/identities/:identity_id',
    guard: 'user',
    assurance: 'session',
    limit: none,
    counted: no,
    io: io.unlinkIdentity,
    handle: unlinkIdentity,
  },
  // A code has six digits: whoever guesses one of a factor counts like whoever guesses a mailed one.
  {
    at: 'POST /factors',
    guard: 'user',
    assurance: 'member',
    limit: none,
    counted: no,
    io: io.enrolFactor,
    handle: enrolFactor,
  },
  {
    at: 'POST /factors/:factor_id/challenge',
    guard: 'user',
    assurance: 'member',
    limit: 'factor',
    counted: no,
    io: io.challengeFactor,
    handle: challengeFactor,
  },
  {
    at: 'POST /factors/:factor_id/verify',
    guard: 'user',
    assurance: 'member',
    limit: 'factor',
    counted: yes,
    io: io.verifyFactor,
    handle: verifyFactor,
  },
  {
    at: 'DELETE /factors/:factor_id',
    guard: 'user',
    assurance: 'member',
    limit: none,
    counted: no,
    io: io.unenrolFactor,
    handle: unenrolFactor,
  },
  { at: 'POST /sso', guard: 'key', assurance: none, limit: none, counted: no, io: io.sso, handle: sso },
  ...adminRoutes,
]
