import type { RunStatement } from '../../db/pool/statements.ts'
import { redirect, type Call, type Outcome, destinationOf } from '../call/call.ts'
import { AuthFailure, refuse } from '../protocol/errors.ts'
import { pkcePrefix, type Presented } from '../secrets/one-time-tokens.ts'
import { errorFields, withBoth, withFragment, withQuery, withTokens } from '../rules/landing.ts'
import { sessionJson, startSession, type StartedSession } from '../accounts/sign-in.ts'
import { issueMailedCode } from '../store/flow-states.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { AmrMethod } from '../protocol/records.ts'
import { acceptToken, isVerificationType, presentToken } from '../accounts/verification.ts'
import type { Accepted, ResolvedType, VerificationType } from '../accounts/verification.ts'
import { linkExpired, proceedMessage, unknownType } from './verify.ts'

/**
 * GET /verify (spec/auth.md 4.13): the link of a mail. Only GET spends it: scanners that use HEAD are refused
 * (spec/auth.md, attack 29). The destination is checked again before anything is spent, because the list may have
 * shrunk.
 */
export async function verifyLink(call: Call<typeof io.verifyLink>, tools: AuthTools): Promise<Outcome> {
  const { token = '', type = '' } = call.query
  if (token === '') throw refuse('validation_failed', 'Verify requires a token or a token hash')
  if (type === '') throw refuse('validation_failed', 'Verify requires a verification type')
  const destination = destinationOf(call)
  try {
    if (!isVerificationType(type)) throw refuse('validation_failed', unknownType)
    const presented = await presentToken(tools, call, type, token)
    if (presented === null) throw refuse('otp_expired', linkExpired)
    return redirect(303, await follow(call, tools, type, presented, destination))
  } catch (error) {
    if (!(error instanceof AuthFailure)) throw error
    if (error.status < 500) await tools.throttle.failed(call.client.source, call.settings)
    return redirect(303, withFields(destination, errorFields(error), token.startsWith(pkcePrefix)))
  }
}

async function follow(
  call: Call,
  tools: AuthTools,
  type: VerificationType,
  presented: Presented,
  destination: string,
): Promise<string> {
  const isPkce = presented.token.startsWith(pkcePrefix)
  const result = await tools.database.transaction(async (run): Promise<Result> => {
    const accepted = await acceptToken(run, call, type, presented)
    if (!accepted.complete) return { kind: 'proceed' }
    if (isPkce) return { kind: 'code', code: await issueCode(run, accepted) }
    const started = await startSession(run, tools, call, accepted.user, 'otp', accepted.type === 'recovery')
    return { kind: 'session', type: accepted.type, started }
  })
  switch (result.kind) {
    case 'proceed':
      return withFields(destination, { message: proceedMessage }, isPkce)
    case 'code':
      return withQuery(destination, { code: result.code })
    case 'session':
      return withTokens(destination, await sessionJson(tools, call, result.started), { type: result.type })
  }
}

interface SessionResult {
  readonly kind: 'session'
  readonly type: ResolvedType
  readonly started: StartedSession
}

type Result = { readonly kind: 'proceed' } | { readonly kind: 'code'; readonly code: string } | SessionResult

const methodOf: Readonly<Record<ResolvedType, AmrMethod>> = {
  signup: 'email/signup',
  invite: 'invite',
  recovery: 'recovery',
  magiclink: 'magiclink',
  email_change: 'email_change',
}

/** A link may have type `email`, and a reset be a magic link: both share a slot, so it is the other's flow. */
const alike: Partial<Readonly<Record<ResolvedType, AmrMethod>>> = { recovery: 'magiclink', magiclink: 'recovery' }

async function issueCode(run: RunStatement, { user, type }: Accepted): Promise<string> {
  const other = alike[type]
  const flow =
    (await issueMailedCode(run, user.id, methodOf[type])) ??
    (other === undefined ? null : await issueMailedCode(run, user.id, other))
  if (flow === null) throw refuse('otp_expired', linkExpired)
  return flow.auth_code
}

/** The page of a PKCE flow may be rendered by a server, which receives no fragment, so the query has the fields too. */
const withFields = (destination: string, fields: Readonly<Record<string, string>>, isPkce: boolean): string =>
  isPkce ? withBoth(destination, fields) : withFragment(destination, fields)
