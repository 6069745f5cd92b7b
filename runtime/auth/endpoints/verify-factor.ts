import type { RunStatement } from '../../db/pool/statements.ts'
import { endPending } from '../accounts/accounts.ts'
import {
  refuseGuess,
  takeGuessOfSession,
  newRefreshToken,
  type StartedSession,
  sessionOutcome,
} from '../accounts/sign-in.ts'
import { isLow, lockCaller, owesFactor, type AuthTools } from '../accounts/tools.ts'
import { type Outcome, type SessionCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { isUuid } from '../protocol/input.ts'
import * as challenges from '../store/factors.ts'
import * as guesses from '../store/factor-guesses.ts'
import { deleteOtherEnrolments, markFactorVerified as markVerified, type FactorWithSecret } from '../store/factors.ts'
import { lockSessionOf, raiseSession } from '../store/sessions.ts'
import { findUserWithSignedSession } from '../store/users.ts'
import type * as io from '../io/user.ts'
import { lowForEnrolment, noteFactor, ownFactor, totp } from './factors.ts'

/** POST /factors/{id}/verify (spec/auth.md 5.7): the checks in its order, then everything in one transaction. */
export async function verifyFactor(call: SessionCall<typeof io.verifyFactor>, tools: AuthTools): Promise<Outcome> {
  const { challenge_id: challengeId = '', code = '' } = call.body
  const factor = await ownFactor(tools.database.run, call)
  if (code === '') throw refuse('validation_failed', 'Code needs to be non-empty')
  if (!call.settings.mfa_totp_enabled) throw refuse('mfa_totp_verify_not_enabled')
  await checkChallenge(tools, call, factor.id, challengeId)
  const step = await checkCode(tools, call, factor, code)
  const started = await tools.database.transaction(async (run) => {
    const raised = await stepUp(run, call, factor.id, challengeId, step)
    await guesses.notePassed(run, factor.id, tools.deviceOf(call.client))
    return raised
  })
  return sessionOutcome(tools, call, started)
}

async function checkChallenge(
  { database }: AuthTools,
  { client }: SessionCall,
  factorId: string,
  id: string,
): Promise<void> {
  const challenge = isUuid(id) ? await challenges.findChallenge(database.run, factorId, id, client.address) : null
  if (challenge === null) {
    throw refuse('mfa_factor_not_found', {
      status: 422,
      message: 'MFA factor with the provided challenge ID not found',
    })
  }
  if (challenge.used || !challenge.same_address) throw refuse('mfa_ip_address_mismatch')
  if (challenge.expired) {
    const message = `MFA challenge ${id} has expired, verify against another challenge or create a new challenge.`
    throw refuse('mfa_challenge_expired', message)
  }
}

/**
 * The time step of a right code. A guess is reserved first and given back, so that concurrent guesses get no more.
 * Wrong codes of a person with only the password end with the session's five: further ones need the password again.
 */
async function checkCode(tools: AuthTools, call: SessionCall, factor: FactorWithSecret, code: string): Promise<number> {
  const { run } = tools.database
  const { stepOfCode } = await totp()
  const device = tools.deviceOf(call.client)
  const isGuessing = factor.status === 'verified' && isLow(call.session)
  if (isGuessing) {
    await takeGuessOfSession(run, call.session.id, () =>
      refuse('mfa_verification_rejected', 'Too many wrong codes in this session: sign in again'),
    )
  }
  const taken = await guesses.takeFactorGuess(run, device, factor.id)
  if (taken === null) throw refuse('mfa_factor_not_found')
  if (!taken.granted) throw refuseGuess(taken.seconds)
  const step = stepOfCode(factor.secret ?? '', code, tools.now())
  if (step === null) throw refuse('mfa_verification_failed')
  await guesses.giveFactorGuessBack(run, taken.known, factor.id)
  if (isGuessing) await guesses.giveSessionGuessBack(run, call.session.id)
  return step
}

async function stepUp(
  run: RunStatement,
  call: SessionCall,
  factorId: string,
  challengeId: string,
  step: number,
): Promise<StartedSession> {
  const [userId, sessionId] = [call.user.id, call.session.id]
  const [caller, hasSession, before] = await Promise.all([
    lockCaller(run, call),
    lockSessionOf(run, userId, sessionId),
    markVerified(run, userId, factorId),
  ])
  if (!hasSession) throw refuse('session_not_found')
  if (before === null) throw refuse('mfa_factor_not_found')
  // A factor that was enrolled before the first verification may be a stranger's.
  if (before.status === 'unverified' && owesFactor(caller)) throw lowForEnrolment()
  const [isNewStep, isUnused] = await Promise.all([
    challenges.acceptStep(run, factorId, step),
    challenges.useChallenge(run, challengeId),
  ])
  if (!isNewStep) throw refuse('mfa_verification_rejected')
  if (!isUnused) throw refuse('mfa_ip_address_mismatch')
  // Pending changes of address and sign-ins may have been started with the password only.
  if (before.status === 'unverified') await endPending(run, userId)
  const refreshToken = newRefreshToken()
  const [, , , found] = await Promise.all([
    raiseSession(run, { userId, sessionId, factorId, refreshToken }),
    deleteOtherEnrolments(run, userId, factorId),
    noteFactor(run, call, 'verification_attempted', factorId),
    findUserWithSignedSession(run, userId, sessionId),
  ])
  if (found === null || found.session === null) throw new Error('A session is gone although its row is held.')
  if (found.banned) throw refuse('user_banned')
  return { user: found, session: found.session, refreshToken }
}
