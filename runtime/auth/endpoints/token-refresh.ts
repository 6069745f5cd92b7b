import { setTimeout as sleep } from 'node:timers/promises'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { Call, Outcome } from '../call/call.ts'
import { OauthFailure, refuse, refused, type AuthFailure } from '../protocol/errors.ts'
import { judgeRefresh, judgeSession, type RefreshVerdict, type SessionFault } from '../rules/refresh.ts'
import { newRefreshToken, sessionOutcome, type StartedSession } from '../accounts/sign-in.ts'
import { audit } from '../store/audit-log.ts'
import * as tokens from '../store/refresh-tokens.ts'
import { deleteSession } from '../store/sessions.ts'
import { findUserWithSignedSession } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type { UserRef } from '../protocol/records.ts'
import type * as io from '../io/user.ts'

/** POST /token?grant_type=refresh_token (spec/auth.md 7). */
export async function refreshGrant(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const { refresh_token: token = '' } = call.body
  if (token === '') throw new OauthFailure('invalid_request', 'refresh_token required')
  if (!shape.test(token)) throw refuse('validation_failed', 'Refresh token is not valid')
  const started = await refresh(call, tools, token)
  const headers = { 'sb-auth-user-id': started.user.id, 'sb-auth-session-id': started.session.id }
  return sessionOutcome(tools, call, started, {}, headers)
}

/** Ours have twelve characters, those of older projects more. */
const shape = /^[A-Za-z0-9_-]{12,255}$/

/** Nearly always the token is live, and one statement does it all; every other case takes several. */
async function refresh(call: Call, tools: AuthTools, token: string): Promise<StartedSession> {
  const { run } = tools.database
  if (!hasSessionLimits(call)) {
    const child = newRefreshToken()
    const rotated = await tokens.rotateLiveToken(run, token, child, call.client)
    if (rotated !== null) return { user: rotated, session: rotated.session, refreshToken: child }
  }
  return refreshLocked(call, tools, token)
}

function hasSessionLimits({ settings }: Call): boolean {
  const { session_timebox: timebox, session_inactivity: inactivity, session_single_per_user: single } = settings
  return timebox !== null || inactivity !== null || single
}

type Ended =
  | { readonly kind: 'session'; readonly started: StartedSession }
  | { readonly kind: 'busy' }
  | ReturnType<typeof refused>

const patienceMs = 5_000
const [shortestPauseMs, longestPauseMs] = [10, 30]

async function refreshLocked(call: Call, tools: AuthTools, token: string): Promise<StartedSession> {
  const found = await tokens.findSessionIdOf(tools.database.run, token)
  if (found === null) {
    await tools.throttle.take('token', call.client.source, call.settings)
    throw refuse('refresh_token_not_found')
  }
  const sessionId = found.session_id
  if (sessionId === null) throw noSession()
  const until = performance.now() + patienceMs
  for (;;) {
    const ended = await tools.database.transaction((run) => decide(run, call, token, sessionId))
    if (ended.kind === 'session') return ended.started
    if (ended.kind === 'refused') throw ended.failure
    if (performance.now() >= until) throw refuse('conflict')
    await sleep(shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs))
  }
}

const prefixed = (sentence: string): string => `Invalid Refresh Token: ${sentence}`

const noSession = (): AuthFailure =>
  refuse('session_not_found', { status: 400, message: prefixed('No Valid Session Found') })

async function decide(run: RunStatement, call: Call, token: string, sessionId: string): Promise<Ended> {
  const lock = await tokens.tryLockSession(run, sessionId)
  if (lock === 'busy') return { kind: 'busy' }
  const facts = lock === 'gone' ? null : await tokens.readLockedToken(run, token)
  if (facts === null) return refused(noSession())
  const { user, session } = facts
  if (user === null) return refused(noSession())
  if (user.banned) return refused(refuse('user_banned', { status: 400, message: prefixed('User Banned') }))
  const fault = judgeSession({ ...facts, age: session.age }, call.settings)
  if (fault !== null) return refused(expired(fault))
  return act(run, call, token, facts, judgeRefresh(facts, call.settings.refresh_reuse_interval))
}

const faultSentences: Readonly<Record<SessionFault, string>> = {
  timebox: 'Session Expired',
  inactivity: 'Session Expired (Inactivity)',
  superseded: 'Session Expired (Revoked by Newer Login)',
}

const expired = (fault: SessionFault): AuthFailure =>
  refuse('session_expired', { status: 400, message: prefixed(faultSentences[fault]) })

async function act(
  run: RunStatement,
  call: Call,
  token: string,
  { user, session }: tokens.LockedToken,
  verdict: RefreshVerdict,
): Promise<Ended> {
  switch (verdict.kind) {
    case 'rotate': {
      const child = newRefreshToken()
      // Only a holder of the session's lock spends its tokens, so no concurrent call can interfere.
      if (!(await tokens.spendToken(run, token, child))) throw new Error('A live token was spent under its lock.')
      return answerTokens(run, call, user, session.id, child)
    }
    case 'replay':
      if (verdict.lost) await tokens.noteHandedAgain(run, session.id, verdict.token)
      return answerTokens(run, call, user, session.id, verdict.token)
    case 'refuse':
      return refused(refuse('refresh_token_already_used'))
    case 'end-session':
      await deleteSession(run, session.id)
      await audit(run, { action: 'token_revoked', actor: user, address: call.client.address })
      return refused(refuse('refresh_token_already_used'))
  }
}

async function answerTokens(
  run: RunStatement,
  call: Call,
  user: UserRef,
  sessionId: string,
  refreshToken: string,
): Promise<Ended> {
  const [, found] = await Promise.all([
    tokens.touchSessionOf(run, sessionId, call.client),
    findUserWithSignedSession(run, user.id, sessionId),
    audit(run, { action: 'token_refreshed', actor: user, address: call.client.address }),
  ])
  if (found === null || found.session === null) return refused(noSession())
  return { kind: 'session', started: { user: found, session: found.session, refreshToken } }
}
