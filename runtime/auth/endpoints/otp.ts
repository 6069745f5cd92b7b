import { randomUUID } from 'node:crypto'
import { confirmAddress, isTakenAddress, savingUser } from '../accounts/accounts.ts'
import {
  json,
  type Actor,
  type Call,
  type Outcome,
  destinationOf,
  checkedChallenge,
  checkedEmail,
  type Registration,
  checkSignUpMetadata,
} from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { mailToken } from '../mails/mail-token.ts'
import { steadyTokens } from '../secrets/one-time-tokens.ts'
import { createUnconfirmed, insertAccount, remindUnconfirmed } from '../accounts/registration.ts'
import { setPasswordAmbiguous, findUserByEmail } from '../store/users.ts'
import { audit } from '../store/audit-log.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { UserRow } from '../protocol/records.ts'
import { mailRecovery } from './recover.ts'

/** POST /otp (spec/auth.md 4.8): a mail that signs in, or up if there is no account. */
export async function otp(call: Call<typeof io.otp>, tools: AuthTools): Promise<Outcome> {
  return signInByMail(call, tools, call.body.create_user ?? true)
}

/** POST /magiclink: the same under its older name. */
export async function magicLink(call: Call<typeof io.magicLink>, tools: AuthTools): Promise<Outcome> {
  return signInByMail(call, tools, true)
}

async function signInByMail(call: Call<typeof io.magicLink>, tools: AuthTools, mayCreate: boolean): Promise<Outcome> {
  const input = readRegistration(call)
  if (!mayCreate || call.settings.disable_signup) await refuseStranger(call, tools, input)
  await setPasswordAmbiguous(tools.database.run, input.email, !call.settings.autoconfirm)
  await tools.mailRequests.accept(call, tools.database, { kind: 'sign-in', input })
  return json({})
}

/** If no account may be created, an unknown address is refused as such (spec/auth.md 4.8; clients expect it). */
async function refuseStranger({ settings }: Call, { database }: AuthTools, { email }: Registration): Promise<void> {
  if ((await findUserByEmail(database.run, email)) !== null) return
  throw refuse(settings.disable_signup ? 'signup_disabled' : 'otp_disabled')
}

/** The work of POST /otp. A refusal by an owner's trigger is only logged: existing accounts do not meet it. */
export async function signInByMailTo(call: Actor, tools: AuthTools, input: Registration): Promise<void> {
  const user = await findUserByEmail(tools.database.run, input.email)
  await (user === null ? mailUnknown(call, tools, input) : mailKnown(call, tools, input, user))
}

function readRegistration(call: Call<typeof io.magicLink>): Registration {
  const { body, settings } = call
  const { email: address = '', phone = '' } = body
  if (address !== '' && phone !== '') {
    throw refuse('validation_failed', 'Only an email address or phone number should be provided')
  }
  if (phone !== '') throw refuse('phone_provider_disabled', 'Unsupported phone provider')
  if (address === '') throw refuse('validation_failed', 'One of email or phone must be set')
  const challenge = checkedChallenge(body)
  const email = checkedEmail(address)
  if (!settings.email_enabled) {
    throw refuse('email_provider_disabled', { status: 422, message: 'Email logins are disabled' })
  }
  const data = body.data ?? {}
  checkSignUpMetadata(email, data)
  return { email, data, challenge, destination: destinationOf(call) }
}

const magicMail = { kind: 'magic_link', linkType: 'magiclink', providerType: 'magiclink', method: 'magiclink' } as const

async function mailKnown(call: Actor, tools: AuthTools, input: Registration, user: UserRow): Promise<void> {
  const { challenge, destination } = input
  const asked = { ...magicMail, challenge, destination }
  // The mailbox is unproved: without required confirmation, the link itself proves it.
  if (user.email_confirmed_at !== null || call.settings.autoconfirm) return mailRecovery(call, tools, user, asked)
  await setPasswordAmbiguous(tools.database.run, input.email, true)
  const reminded = await remindUnconfirmed(call, tools, input, user)
  if (reminded === null) await mailRecovery(call, tools, user, asked)
}

async function mailUnknown(call: Actor, tools: AuthTools, input: Registration): Promise<void> {
  if (call.settings.disable_signup) throw refuse('signup_disabled')
  try {
    await savingUser(async () => {
      if (call.settings.autoconfirm) await createConfirmed(call, tools, input)
      else await createUnconfirmed(call, tools, input, null)
    })
  } catch (error) {
    // A concurrent call used the address first.
    const winner = isTakenAddress(error) ? await findUserByEmail(tools.database.run, input.email) : null
    if (winner === null) throw error
    await mailKnown(call, tools, input, winner)
  }
}

/** An account without a password: the mail is the only way in. */
async function createConfirmed(call: Actor, tools: AuthTools, input: Registration): Promise<void> {
  const { email, data, challenge, destination } = input
  const parts = { settings: call.settings, oneTime: steadyTokens(tools.oneTime) }
  await tools.mailer.withMail(call.settings, async (run, send) => {
    const id = randomUUID()
    await insertAccount(run, { id, email, data, hash: null, token: '' }, call.settings)
    await confirmAddress(run, { id, email }, 'autoconfirm')
    await audit(run, { action: 'user_signedup', actor: { id, email }, address: call.client.address })
    const mail = { ...magicMail, userId: id, slot: 'recovery', address: email, email, newEmail: '', data } as const
    await mailToken(run, send, parts, { ...mail, challenge, destination })
  })
}
