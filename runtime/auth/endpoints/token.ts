import type { RunStatement } from '../../db/pool/statements.ts'
import { takeGuess, beginSession, sessionOutcome, startSession, type StartedSession } from '../accounts/sign-in.ts'
import type { Call, Outcome } from '../call/call.ts'
import { refuse, refused } from '../protocol/errors.ts'
import { judgeStrength, meetsChallenge } from '../rules/credentials.ts'
import { ensureEmailIdentity } from '../store/identities.ts'
import { findLockedUser, replaceHash, findUserById, lockUser } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { UserRow } from '../protocol/records.ts'
import { idTokenGrant } from './token-id-token.ts'
import { refreshGrant } from './token-refresh.ts'
import {
  countFlowTry,
  deleteFlow,
  findIssuedTo,
  flowSeconds,
  lockIssuedFlow,
  type IssuedFlow,
} from '../store/flow-states.ts'

/** POST /token?grant_type=pkce (spec/auth.md 6.4): the code of a flow, with the verifier of its client. */
async function pkceGrant(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const { auth_code: code = '', code_verifier: verifier = '' } = call.body
  if (code === '' || verifier === '') {
    throw refuse('validation_failed', 'invalid request: both auth code and code verifier should be non-empty')
  }
  const ended = await tools.database.transaction((run) => exchangeCode(run, tools, call, code, verifier))
  if (ended.kind === 'refused') throw ended.failure
  const { provider_access_token: token, provider_refresh_token: refreshToken } = ended.flow
  return sessionOutcome(tools, call, ended.started, {
    ...(token !== null && { provider_token: token }),
    ...(refreshToken !== null && { provider_refresh_token: refreshToken }),
  })
}

type Ended =
  | { readonly kind: 'session'; readonly started: StartedSession; readonly flow: IssuedFlow }
  | ReturnType<typeof refused>

/** The flow survives some wrong verifiers, because its owner may still come. */
const mostTries = 5

async function exchangeCode(
  run: RunStatement,
  tools: AuthTools,
  call: Call,
  code: string,
  verifier: string,
): Promise<Ended> {
  const userId = await findIssuedTo(run, code)
  if (userId !== null) await lockUser(run, userId)
  const flow = await lockIssuedFlow(run, code)
  if (flow === null) return refused(refuse('flow_state_not_found'))
  if (flow.age > flowSeconds) return refused(refuse('flow_state_expired'))
  if (!isProved(flow, verifier)) {
    if (((await countFlowTry(run, flow.id)) ?? 0) >= mostTries) await deleteFlow(run, flow.id)
    return refused(refuse('bad_code_verifier'))
  }
  await deleteFlow(run, flow.id)
  const user = await findUserById(run, flow.user_id)
  if (user === null) return refused(refuse('user_not_found'))
  if (user.banned) return refused(refuse('user_banned'))
  const { authentication_method: method, provider_type: provider } = flow
  const way = method === 'oauth' ? { provider } : method
  return { kind: 'session', flow, started: await startSession(run, tools, call, user, way) }
}

function isProved({ code_challenge: challenge, code_challenge_method: method }: IssuedFlow, verifier: string): boolean {
  return challenge !== null && method !== null && meetsChallenge(verifier, { challenge, method })
}

type Grant = (call: Call<typeof io.token>, tools: AuthTools) => Promise<Outcome>

/** The grants of a session (spec/auth.md 4.4 to 4.7). */
const grants = new Map<string, Grant>([
  ['password', passwordGrant],
  ['refresh_token', refreshGrant],
  ['pkce', pkceGrant],
  ['id_token', idTokenGrant],
])

/** POST /token?grant_type= */
export async function token(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const name = call.query.grant_type ?? ''
  const grant = grants.get(name)
  if (grant !== refreshGrant) await tools.throttle.take('token', call.client.source, call.settings)
  if (grant !== undefined) return grant(call, tools)
  throw name === 'web3' ? refuse('web3_provider_disabled') : refuse('invalid_credentials', 'unsupported_grant_type')
}

/** By a password (spec/auth.md 4.4). */
async function passwordGrant(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const { email = '', phone = '', password = '' } = call.body
  if (email !== '' && phone !== '') {
    throw refuse('validation_failed', 'Only an email address or phone number should be provided on login.')
  }
  if (email === '' && phone === '') throw refuse('validation_failed', 'missing email or phone')
  if (email === '') throw refuse('phone_provider_disabled', { status: 422, message: 'Phone logins are disabled' })
  if (!call.settings.email_enabled) {
    throw refuse('email_provider_disabled', { status: 422, message: 'Email logins are disabled' })
  }
  const guess = await takeGuess(tools, call.client, email)
  const { user, isKnown } = guess
  const sharer = { party: call.client.source, kind: 'member' } as const
  const passwords = isKnown ? tools.passwords.on({ sharer }) : tools.passwords
  try {
    const verdict = await passwords.judge(password, user?.encrypted_password || null)
    if (user !== null && verdict !== 'wrong') {
      return await enter(call, tools, { user, password, isOutdated: verdict === 'outdated' })
    }
  } catch (error) {
    // It was right, or was not compared.
    await guess.release().catch(() => undefined)
    throw error
  }
  throw refuse('invalid_credentials')
}

interface Proved {
  readonly user: UserRow
  readonly password: string
  /** Its hash is weaker than ours. */
  readonly isOutdated: boolean
}

/**
 * Only a caller with the right password learns that the account is banned. The password was compared before the user's
 * row was locked: it must be unchanged.
 */
async function enter(call: Call, tools: AuthTools, proved: Proved): Promise<Outcome> {
  const { user, password } = proved
  refuseClosed(user)
  if (user.email_confirmed_at === null) throw refuse('email_not_confirmed')
  const provedHash = await completed(tools, proved)
  const begun = await tools.database.together((run) =>
    beginSession(run, tools, call, user, { way: 'password', provedHash }),
  )
  if (begun.started !== null) {
    return sessionOutcome(tools, call, begun.started, weaknessOf(password, call))
  }
  if (begun.user?.encrypted_password === provedHash) refuseClosed(begun.user)
  throw refuse('invalid_credentials')
}

function refuseClosed({ banned }: UserRow): void {
  if (banned) throw refuse('user_banned', { status: 400 })
}

/**
 * The account's hash of the right password from now on. Imported rows are completed first: with a hash like ours, and
 * with the identity of the address.
 */
async function completed({ passwords, database }: AuthTools, { user, password, isOutdated }: Proved): Promise<string> {
  const old = user.encrypted_password ?? ''
  if (!isOutdated && user.identities.length > 0) return old
  const hash = isOutdated ? await passwords.hash(password) : old
  await database.transaction(async (run) => {
    const present = await findLockedUser(run, user.id)
    if (present === null || present.encrypted_password !== old) throw refuse('invalid_credentials')
    refuseClosed(present)
    if (isOutdated) await replaceHash(run, user.id, old, hash)
    if (present.identities.length === 0) await addIdentity(run, present)
  })
  return hash
}

/** Manually inserted users often have none (spec/auth.md 13, restored data). */
async function addIdentity(run: RunStatement, { id, email }: UserRow): Promise<void> {
  await ensureEmailIdentity(run, id, { sub: id, email, email_verified: true, phone_verified: false })
}

/** Reports to the client if the present rules would refuse the password (spec/auth.md 3.3). */
function weaknessOf(password: string, { settings }: Call): object {
  const weak_password = judgeStrength(password, settings)
  return weak_password === null ? {} : { weak_password }
}
