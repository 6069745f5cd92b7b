import {
  json,
  type Actor,
  type Call,
  type Outcome,
  destinationOf,
  checkedChallenge,
  checkedEmail,
  type Registration,
} from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { mailEmailChange } from '../mails/mail-token.ts'
import { steadyTokens } from '../secrets/one-time-tokens.ts'
import { remindUnconfirmed } from '../accounts/registration.ts'
import { mailboxesOf } from '../rules/email.ts'
import { confirmedSlot, pendingChangeSlots, findUserWithPendingAddress } from '../store/email-changes.ts'
import { findUserByEmail, findUserById, lockUser } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { UserRow } from '../protocol/records.ts'

const types = ['signup', 'email_change', 'sms', 'phone_change'] as const

/** POST /resend (spec/auth.md 4.10): a new code and link, with its own count of guesses. */
export async function resend(call: Call<typeof io.resend>, tools: AuthTools): Promise<Outcome> {
  await tools.mailRequests.accept(call, tools.database, readResend(call))
  return json({})
}

interface Input {
  readonly kind: 'confirmation' | 'email-change'
  readonly input: Registration
}

function readResend(call: Call<typeof io.resend>): Input {
  const { body } = call
  const type = types.find((one) => one === body.type)
  if (type === undefined) {
    throw refuse('validation_failed', 'Missing one of these types: signup, email_change, sms, phone_change')
  }
  const { email: address = '', phone = '' } = body
  if (address !== '' && phone !== '') {
    throw refuse('validation_failed', 'Only an email address or phone number should be provided.')
  }
  if (phone !== '' || type === 'sms' || type === 'phone_change') {
    throw refuse('phone_provider_disabled', 'Phone logins are disabled')
  }
  if (address === '') {
    const isSignUp = type === 'signup'
    throw refuse(
      'validation_failed',
      isSignUp ? 'Type provided requires an email address' : 'Missing email address or phone number',
    )
  }
  const input = { email: checkedEmail(address), challenge: checkedChallenge(body), destination: destinationOf(call) }
  return { kind: type === 'signup' ? 'confirmation' : 'email-change', input: { ...input, data: {} } }
}

export async function resendConfirmation(call: Actor, tools: AuthTools, input: Registration): Promise<void> {
  const user = await findUserByEmail(tools.database.run, input.email)
  if (user === null || user.email_confirmed_at !== null) return
  await remindUnconfirmed(call, tools, { ...input, data: user.raw_user_meta_data ?? {} }, user)
}

export async function resendChange(call: Actor, tools: AuthTools, input: Registration): Promise<void> {
  const { email, challenge, destination } = input
  const user = await changingUser(tools, email)
  if (user === null) return
  const parts = { settings: call.settings, oneTime: steadyTokens(tools.oneTime) }
  await tools.mailer.withMail(call.settings, async (run, send) => {
    await lockUser(run, user.id)
    const present = await findUserById(run, user.id)
    const slots = await pendingChangeSlots(run, user.id)
    const confirmed = await confirmedSlot(run, user.id)
    if (present === null || (present.email_change ?? '') === '' || (slots.length === 0 && confirmed === null)) return
    const missing = mailboxesOf(present, call.settings).filter((slot) => slot !== confirmed)
    await mailEmailChange(run, send, parts, { user: present, slots: missing, challenge, destination })
  })
}

/** A user who changes the address sends the present one; a guest has only the new one. */
async function changingUser({ database }: AuthTools, email: string): Promise<UserRow | null> {
  const known = await findUserByEmail(database.run, email)
  if (known !== null && (known.email_change ?? '') !== '') return known
  const id = await findUserWithPendingAddress(database.run, email)
  return id === null ? null : findUserById(database.run, id)
}
