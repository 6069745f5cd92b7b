import type { RunStatement } from '../../db/pool/statements.ts'
import type { Call, Outcome } from '../call/call.ts'
import { refuse, refused } from '../protocol/errors.ts'
import { meetsChallenge } from '../rules/credentials.ts'
import { sessionOutcome, startSession, type StartedSession } from '../accounts/sign-in.ts'
import {
  countFlowTry,
  deleteFlow,
  findIssuedTo,
  flowSeconds,
  lockIssuedFlow,
  type IssuedFlow,
} from '../store/flow-states.ts'
import { findUserById, lockUser } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'

/** POST /token?grant_type=pkce (spec/auth.md 6.4): the code of a flow, with the verifier of its client. */
export async function pkceGrant(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
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
