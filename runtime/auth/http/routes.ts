import { adminRoutes } from './admin-routes.ts'
import { challengeFactor, enrolFactor, unenrolFactor } from '../endpoints/factors.ts'
import { authorize } from '../endpoints/authorize.ts'
import { callback, callbackForm } from '../endpoints/callback.ts'
import { enrolRecoveryCodes, health, jwks, publicSettings, sso, verifyRecoveryCode } from '../endpoints/about.ts'
import { authorizeIdentity, unlinkIdentity } from '../endpoints/identities.ts'
import { logout } from '../endpoints/logout.ts'
import { magicLink, otp } from '../endpoints/otp.ts'
import { reauthenticate } from '../endpoints/reauthenticate.ts'
import { recover } from '../endpoints/recover.ts'
import { resend } from '../endpoints/resend.ts'
import { signUp } from '../endpoints/sign-up.ts'
import { token } from '../endpoints/token.ts'
import { getUser, updateUser } from '../endpoints/user.ts'
import { verify } from '../endpoints/verify.ts'
import { verifyLink } from '../endpoints/verify-link.ts'
import { verifyFactor } from '../endpoints/verify-factor.ts'
import * as io from '../io/user.ts'
import { route, type Route } from './route.ts'

const [none, no, yes] = ['none', false, true] as const

const probe = { guard: 'probe', assurance: none, limit: none, counted: no } as const
const open = { guard: 'open', assurance: none, limit: none, counted: no } as const
const keyed = { guard: 'key', assurance: none, limit: none, counted: no } as const
/** The endpoint itself knows its limits. */
const entering = { guard: 'key', assurance: none, limit: none, counted: yes } as const
const mailing = { guard: 'key', assurance: none, limit: 'sign-up', counted: yes } as const
const verifying = { guard: 'open', assurance: none, limit: 'verify', counted: yes } as const
const ofUser = { guard: 'user', assurance: none, limit: none, counted: no } as const
const changing = { guard: 'user', assurance: none, limit: 'sign-up', counted: no } as const
const ofSession = { guard: 'user', assurance: 'session', limit: none, counted: no } as const
const ofMember = { guard: 'user', assurance: 'member', limit: none, counted: no } as const
const challenging = { guard: 'user', assurance: 'member', limit: 'factor', counted: no } as const
const proving = { guard: 'user', assurance: 'member', limit: 'factor', counted: yes } as const

/** For the newest clients, so that they understand the refusal: recovery codes are not supported (spec/auth.md 5.7). */
const recoveryCodeRoutes: readonly Route[] = [
  route({ at: 'GET /factors/recovery-codes', ...ofMember, io: io.recoveryCodeStatus, handle: enrolRecoveryCodes }),
  route({ at: 'POST /factors/recovery-codes', ...ofMember, io: io.recoveryCodes, handle: enrolRecoveryCodes }),
  route({ at: 'DELETE /factors/recovery-codes', ...ofMember, io: io.recoveryCodes, handle: enrolRecoveryCodes }),
  route({
    at: 'POST /factors/recovery-codes/regenerate',
    ...ofMember,
    io: io.recoveryCodes,
    handle: enrolRecoveryCodes,
  }),
  route({ at: 'POST /factors/recovery-codes/verify', ...ofMember, io: io.recoveryCodes, handle: verifyRecoveryCode }),
]

/**
 * Every endpoint: its callers, their assurance, its limits, whether its refusals count towards blocking an address, its
 * input and answers. This table is the overview of auth. route.ts explains the columns.
 */
export const routes: readonly Route[] = [
  route({ at: 'GET /health', ...probe, io: io.health, handle: health }),
  route({ at: 'GET /settings', ...keyed, io: io.publicSettings, handle: publicSettings }),
  route({ at: 'GET /.well-known/jwks.json', ...open, io: io.jwks, handle: jwks }),
  // Guests have their own limit: the endpoint knows them.
  route({ at: 'POST /signup', ...entering, io: io.signUp, handle: signUp }),
  // The refresh of a session costs its address nothing: the endpoint limits the other grants.
  route({ at: 'POST /token', ...entering, io: io.token, handle: token }),
  route({ at: 'POST /otp', ...mailing, io: io.otp, handle: otp }),
  route({ at: 'POST /magiclink', ...mailing, io: io.magicLink, handle: magicLink }),
  route({ at: 'POST /recover', ...mailing, io: io.recover, handle: recover }),
  route({ at: 'POST /resend', ...mailing, io: io.resend, handle: resend }),
  route({ at: 'POST /verify', ...verifying, io: io.verify, handle: verify }),
  route({ at: 'GET /verify', ...verifying, io: io.verifyLink, handle: verifyLink }),
  route({ at: 'GET /reauthenticate', ...changing, io: io.reauthenticate, handle: reauthenticate }),
  route({ at: 'GET /user', ...ofUser, io: io.getUser, handle: getUser }),
  route({ at: 'PUT /user', ...changing, io: io.updateUser, handle: updateUser }),
  route({ at: 'POST /logout', ...ofUser, io: io.logout, handle: logout }),
  route({ at: 'GET /authorize', ...open, io: io.authorize, handle: authorize }),
  route({ at: 'GET /callback', ...open, io: io.callback, handle: callback }),
  route({ at: 'POST /callback', ...open, io: io.callbackForm, handle: callbackForm }),
  route({ at: 'GET /user/identities/authorize', ...ofSession, io: io.authorizeIdentity, handle: authorizeIdentity }),
  route({ at: 'DELETE /user/identities/:identity_id', ...ofSession, io: io.unlinkIdentity, handle: unlinkIdentity }),
  // A code has six digits: guesses of a factor's code count like guesses of a mailed one.
  route({ at: 'POST /factors', ...ofMember, io: io.enrolFactor, handle: enrolFactor }),
  route({ at: 'POST /factors/:factor_id/challenge', ...challenging, io: io.challengeFactor, handle: challengeFactor }),
  route({ at: 'POST /factors/:factor_id/verify', ...proving, io: io.verifyFactor, handle: verifyFactor }),
  route({ at: 'DELETE /factors/:factor_id', ...ofMember, io: io.unenrolFactor, handle: unenrolFactor }),
  ...recoveryCodeRoutes,
  route({ at: 'POST /sso', ...keyed, io: io.sso, handle: sso }),
  ...adminRoutes,
]
