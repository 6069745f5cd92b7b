import { randomInt, randomUUID } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import { confirmAddress, isTakenAddress, savingUser } from '../accounts/accounts.ts'
import {
  json,
  type Call,
  type Outcome,
  destinationOf,
  checkedChallenge,
  checkedEmail,
  type Registration,
  checkNewMetadata,
  checkSignUpMetadata,
  checkNewPassword,
} from '../call/call.ts'
import { takeGuess, sessionJson, startSession, type StartedSession, sessionOutcome } from '../accounts/sign-in.ts'
import { AuthFailure, refuse } from '../protocol/errors.ts'
import { createUnconfirmed, insertAccount, pretendUnconfirmed, remindUnconfirmed } from '../accounts/registration.ts'
import { fakeUserJson, unconfirmedUserJson } from '../rules/user-json.ts'
import { setPasswordAmbiguous, findUserByEmail, findLockedUser, insertUser } from '../store/users.ts'
import { audit } from '../store/audit-log.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { UserRef, UserRow } from '../protocol/records.ts'

/** POST /signup: an account by address (spec/auth.md 4.2), or a guest without an address (spec/auth.md 4.3). */
export async function signUp(call: Call<typeof io.signUp>, tools: AuthTools): Promise<Outcome> {
  const { body } = call
  if (!body.email && !body.phone) return guestSignUp(call, tools)
  await tools.throttle.take('sign-up', call.client.source, call.settings)
  return signUpChecked(call, tools, readSignUp(call))
}

async function guestSignUp(call: Call<typeof io.signUp>, tools: AuthTools): Promise<Outcome> {
  if (!call.settings.anonymous_enabled) throw refuse('anonymous_provider_disabled')
  if (call.settings.disable_signup) throw refuse('signup_disabled')
  const data = call.body.data ?? {}
  checkNewMetadata(data, {})
  await tools.throttle.takeGuest(call.client.source, call.settings)
  const started = await savingUser(() => tools.database.together((run) => createGuest(run, tools, call, data)))
  return sessionOutcome(tools, call, started)
}

async function createGuest(run: RunStatement, tools: AuthTools, call: Call, data: object): Promise<StartedSession> {
  const user = { id: randomUUID(), email: null }
  const guest = { ...user, passwordHash: null, appMetadata: {}, userMetadata: { ...data }, isAnonymous: true }
  const [, , started] = await Promise.all([
    insertUser(run, guest, call.settings),
    audit(run, { action: 'user_signedup', actor: user, address: call.client.address }),
    startSession(run, tools, call, user, 'anonymous'),
  ])
  return started
}

interface SignUp extends Registration {
  readonly password: string
}

/**
 * In the order of spec/auth.md 4.2: the rules for passwords come before any look-up, so they reveal nothing about
 * accounts.
 */
function readSignUp(call: Call<typeof io.signUp>): SignUp {
  const { body, settings } = call
  if (settings.disable_signup) throw refuse('signup_disabled')
  const { password = '' } = body
  if (password === '') throw refuse('validation_failed', 'Signup requires a valid password')
  checkNewPassword(password, settings)
  const { email: address = '', phone = '' } = body
  if (address !== '' && phone !== '') {
    throw refuse('validation_failed', 'Only an email address or phone number should be provided on signup.')
  }
  const challenge = checkedChallenge(body)
  const email = address === '' ? '' : checkedEmail(address)
  if (address !== '' && !settings.email_enabled) throw refuse('email_provider_disabled')
  if (phone !== '') throw refuse('phone_provider_disabled')
  const data = body.data ?? {}
  checkSignUpMetadata(email, data)
  return { email, password, data, challenge, destination: destinationOf(call) }
}

async function signUpChecked(call: Call, tools: AuthTools, input: SignUp): Promise<Outcome> {
  const existing = await findUserByEmail(tools.database.run, input.email)
  if (existing !== null) return signUpAgain(call, tools, input, existing)
  const hash = await tools.passwords.hashEvenly(input.password)
  try {
    return await savingUser(() => createSignedUp(call, tools, input, hash))
  } catch (error) {
    // A concurrent call used the address first: it is theirs, as if they had come long before.
    const winner = isTakenAddress(error) ? await findUserByEmail(tools.database.run, input.email) : null
    if (winner === null) throw error
    return signUpAgain(call, tools, input, winner)
  }
}

/** One hash is made or compared for known and unknown addresses, in equal time, so that the time reveals nothing. */
async function signUpAgain(call: Call, tools: AuthTools, input: SignUp, user: UserRow): Promise<Outcome> {
  const confirmed = user.email_confirmed_at !== null
  const mayMatch = confirmed || !call.settings.autoconfirm || (await isGuessLeft(call, tools, input.email))
  const right = await tools.passwords.compareEvenly(input.password, user.encrypted_password || null)
  const samePassword = right && mayMatch
  if (call.settings.autoconfirm) {
    if (confirmed || !samePassword) throw refuse('user_already_exists')
    return json({ ...(await confirmKnown(call, tools, user)) })
  }
  await setPasswordAmbiguous(tools.database.run, input.email, !confirmed && !samePassword)
  return confirmed ? pretend(call, tools, input, user) : remind(call, tools, input, user)
}

/** A guess is reserved if the answer shows whether the password is right (spec/auth.md 4.2). */
const isGuessLeft = (call: Call, tools: AuthTools, email: string): Promise<boolean> =>
  takeGuess(tools, call.client, email).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AuthFailure && error.isAttempt) return false
      throw error
    },
  )

async function createSignedUp(call: Call, tools: AuthTools, input: SignUp, hash: string): Promise<Outcome> {
  if (!call.settings.autoconfirm) {
    await setPasswordAmbiguous(tools.database.run, input.email, false)
    return json(unconfirmedUserJson(await createUnconfirmed(call, tools, input, hash), input))
  }
  const started = await tools.database.transaction(async (run) => {
    const { email, data } = input
    const id = randomUUID()
    await insertAccount(run, { id, email, data, hash, token: '' }, call.settings)
    return confirmAndSignIn(run, tools, call, { id, email })
  })
  return sessionOutcome(tools, call, started)
}

/** The password was compared before the user was locked: it must be unchanged. */
async function confirmKnown(call: Call, tools: AuthTools, user: UserRow): Promise<object> {
  const started = await tools.database.transaction(async (run) => {
    const present = await findLockedUser(run, user.id)
    const waits = present !== null && present.email_confirmed_at === null
    if (!waits || present.encrypted_password !== user.encrypted_password) throw refuse('user_already_exists')
    if (present.banned) throw refuse('user_banned', { status: 400 })
    return confirmAndSignIn(run, tools, call, present)
  })
  return sessionJson(tools, call, started)
}

async function confirmAndSignIn(
  run: RunStatement,
  tools: AuthTools,
  call: Call,
  user: UserRef,
): Promise<StartedSession> {
  await Promise.all([
    confirmAddress(run, user, 'autoconfirm'),
    audit(run, { action: 'user_signedup', actor: user, address: call.client.address }),
  ])
  return startSession(run, tools, call, user, 'password')
}

/** An unconfirmed account gets another mail. */
async function remind(call: Call, tools: AuthTools, input: SignUp, user: UserRow): Promise<Outcome> {
  const present = await remindUnconfirmed(call, tools, input, user)
  return present === null ? pretend(call, tools, input, user) : json(unconfirmedUserJson(present, input))
}

/** The address belongs to a confirmed account: the answer is like that of a new one, and nothing is kept. */
async function pretend(call: Call, tools: AuthTools, input: SignUp, user: UserRow): Promise<Outcome> {
  await pretendUnconfirmed(call, tools, input, user)
  return json(fakeUserJson(input, { id: randomUUID(), aud: call.settings.jwt_aud, at: likeDatabaseTime(tools.now()) }))
}

/** Times of the database have microseconds: one without them could be recognised. */
function likeDatabaseTime(now: number): string {
  return new Date(now).toISOString().replace('Z', `${String(randomInt(1, 1000)).padStart(3, '0')}Z`)
}
