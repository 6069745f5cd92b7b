import { json, type Call, type Outcome } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { judgeEmail, normalEmail } from '../rules/email.ts'
import { startSession, sessionOutcome } from '../accounts/sign-in.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import {
  acceptToken,
  isVerificationType,
  presentCode,
  presentToken,
  type VerificationType,
} from '../accounts/verification.ts'

/** The message after the first of two mailboxes was confirmed. */
export const proceedMessage = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

export const unknownType = 'Invalid email verification type'

export const linkExpired = 'Email link is invalid or has expired'

/** POST /verify (spec/auth.md 4.12): a typed code, or the token of a link. */
export async function verify(call: Call<typeof io.verify>, tools: AuthTools): Promise<Outcome> {
  const input = readInput(call)
  const presented =
    input.kind === 'code'
      ? await presentCode(tools, call, input.type, input.email, input.code)
      : await presentToken(tools, call, input.type, input.token)
  if (presented === null) throw refuse('otp_expired', input.kind === 'code' ? {} : linkExpired)
  const started = await tools.database.transaction(async (run) => {
    const { user, type, complete } = await acceptToken(run, call, input.type, presented)
    return complete ? startSession(run, tools, call, user, 'otp', type === 'recovery') : null
  })
  if (started === null) return json({ msg: proceedMessage, code: '200' })
  return sessionOutcome(tools, call, started)
}

type Input =
  | { readonly kind: 'code'; readonly type: VerificationType; readonly email: string; readonly code: string }
  | { readonly kind: 'token'; readonly type: VerificationType; readonly token: string }

function readInput({ body }: Call<typeof io.verify>): Input {
  const { type = '', token: code = '', token_hash: token = '' } = body
  if (type === '') throw refuse('validation_failed', 'Verify requires a verification type')
  if ((code === '') === (token === '')) {
    throw refuse('validation_failed', 'Verify requires either a token or a token hash')
  }
  const { email = '', phone = '' } = body
  if (token !== '') {
    if (email !== '' || phone !== '' || body.redirect_to !== undefined) {
      throw refuse('validation_failed', 'Only the token_hash and type should be provided')
    }
    if (!isVerificationType(type)) throw refuse('validation_failed', unknownType)
    return { kind: 'token', type, token }
  }
  if ((email === '') === (phone === '')) {
    throw refuse('validation_failed', 'Only an email address or phone number should be provided on verify')
  }
  if (phone !== '') throw refusePhone(type, phone)
  if (!isVerificationType(type)) throw refuse('validation_failed', unknownType)
  const address = normalEmail(email)
  if (judgeEmail(address) !== null) throw refuse('validation_failed', { status: 422, message: 'Invalid email format' })
  return { kind: 'code', type, email: address, code }
}

/** No code is ever sent to a phone. */
function refusePhone(type: string, phone: string): Error {
  if (type !== 'sms' && type !== 'phone_change') return refuse('validation_failed', 'Unsupported verification type')
  // E.164: up to 15 digits, the first of them not zero.
  if (/^\+?[1-9]\d{1,14}$/.test(phone)) return refuse('otp_expired')
  return refuse('validation_failed', 'Invalid phone number format (E.164 required)')
}
