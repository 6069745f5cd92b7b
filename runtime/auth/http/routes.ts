import { adminRoutes } from './admin-routes.ts'
import { challengeFactor, enrolFactor, unenrolFactor } from '../endpoints/factors.ts'
import { authorize } from '../endpoints/authorize.ts'
import { callback, callbackForm } from '../endpoints/callback.ts'
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
import * as io from '../io/user.ts'
import { route, type Route } from './route.ts'

const [none, no, yes] = ['none', false, true] as const

/**
 * Every endpoint: who may call it, how sure of the caller it has to be, what limits it, whether its refusals count
 * towards closing an address, what it takes and answers. Reading this is reading auth. route.ts explains the columns.
 */
export const routes: readonly Route[] = [
  route({
    at: 'GET /health',
    guard: 'probe',
    assurance: none,
    limit: none,
    counted: no,
    io: io.health,
    handle: health,
  }),
  route({
    at: 'GET /settings',
    guard: 'key',
    assurance: none,
    limit: none,
    counted: no,
    io: io.publicSettings,
    handle: publicSettings,
  }),
  route({
    at: 'GET /.well-known/jwks.json',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.jwks,
    handle: jwks,
  }),
  // Guests have a limit of their own: the endpoint knows who is one.
  route({
    at: 'POST /signup',
    guard: 'key',
    assurance: none,
    limit: none,
    counted: yes,
    io: io.signUp,
    handle: signUp,
  }),
  route({
    at: 'POST /token',
    guard: 'key',
    assurance: none,
    limit: 'token',
    counted: yes,
    io: io.token,
    handle: token,
  }),
  route({ at: 'POST /otp', guard: 'key', assurance: none, limit: 'sign-up', counted: yes, io: io.otp, handle: otp }),
  route({
    at: 'POST /magiclink',
    guard: 'key',
    assurance: none,
    limit: 'sign-up',
    counted: yes,
    io: io.magicLink,
    handle: magicLink,
  }),
  route({
    at: 'POST /recover',
    guard: 'key',
    assurance: none,
    limit: 'sign-up',
    counted: yes,
    io: io.recover,
    handle: recover,
  }),
  route({
    at: 'POST /resend',
    guard: 'key',
    assurance: none,
    limit: 'sign-up',
    counted: yes,
    io: io.resend,
    handle: resend,
  }),
  route({
    at: 'POST /verify',
    guard: 'open',
    assurance: none,
    limit: 'verify',
    counted: yes,
    io: io.verify,
    handle: verify,
  }),
  route({
    at: 'GET /verify',
    guard: 'open',
    assurance: none,
    limit: 'verify',
    counted: yes,
    io: io.verifyLink,
    handle: verifyLink,
  }),
  route({
    at: 'GET /reauthenticate',
    guard: 'user',
    assurance: none,
    limit: 'sign-up',
    counted: no,
    io: io.reauthenticate,
    handle: reauthenticate,
  }),
  route({ at: 'GET /user', guard: 'user', assurance: none, limit: none, counted: no, io: io.getUser, handle: getUser }),
  route({
    at: 'PUT /user',
    guard: 'user',
    assurance: none,
    limit: 'sign-up',
    counted: no,
    io: io.updateUser,
    handle: updateUser,
  }),
  route({
    at: 'POST /logout',
    guard: 'user',
    assurance: none,
    limit: none,
    counted: no,
    io: io.logout,
    handle: logout,
  }),
  route({
    at: 'GET /authorize',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.authorize,
    handle: authorize,
  }),
  route({
    at: 'GET /callback',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.callback,
    handle: callback,
  }),
  route({
    at: 'POST /callback',
    guard: 'open',
    assurance: none,
    limit: none,
    counted: no,
    io: io.callbackForm,
    handle: callbackForm,
  }),
  route({
    at: 'GET /user/identities/authorize',
    guard: 'user',
    assurance: 'session',
    limit: none,
    counted: no,
    io: io.authorizeIdentity,
    handle: authorizeIdentity,
  }),
  route({
    at: 'DELETE /user/identities/:identity_id',
    guard: 'user',
    assurance: 'session',
    limit: none,
    counted: no,
    io: io.unlinkIdentity,
    handle: unlinkIdentity,
  }),
  // A code has six digits: guesses of a factor's code count like guesses of a mailed one.
  route({
    at: 'POST /factors',
    guard: 'user',
    assurance: 'member',
    limit: none,
    counted: no,
    io: io.enrolFactor,
    handle: enrolFactor,
  }),
  route({
    at: 'POST /factors/:factor_id/challenge',
    guard: 'user',
    assurance: 'member',
    limit: 'factor',
    counted: no,
    io: io.challengeFactor,
    handle: challengeFactor,
  }),
  route({
    at: 'POST /factors/:factor_id/verify',
    guard: 'user',
    assurance: 'member',
    limit: 'factor',
    counted: yes,
    io: io.verifyFactor,
    handle: verifyFactor,
  }),
  route({
    at: 'DELETE /factors/:factor_id',
    guard: 'user',
    assurance: 'member',
    limit: none,
    counted: no,
    io: io.unenrolFactor,
    handle: unenrolFactor,
  }),
  route({ at: 'POST /sso', guard: 'key', assurance: none, limit: none, counted: no, io: io.sso, handle: sso }),
  ...adminRoutes,
]
