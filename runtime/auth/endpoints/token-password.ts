import type { RunStatement } from '../../db/pool/statements.ts'
import { takeGuess } from '../accounts/password-guesses.ts'
import { json, type Call, type Outcome } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { normalEmail } from '../rules/email.ts'
import { judgeStrength } from '../rules/password.ts'
import { sessionJson, startSession, type StartedSession } from '../accounts/sign-in.ts'
import { ensureEmailIdentity } from '../store/identities.ts'
import { findLockedUser, replaceHash } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { SessionJson, UserRow } from '../protocol/types.ts'

/** POST /token?grant_type=password (spec/auth.md 4.4). */
export async function passwordGrant(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const { email = '', phone = '', password = '' } = call.body
  if (email !== '' && phone !== '') {
    throw refuse('validation_failed', 'Only an email address or phone number should be provided on login.')
  }
  if (email === '' && phone === '') throw refuse('validation_failed', 'missing email or phone')
  if (email === '') throw refuse('phone_provider_disabled', { status: 422, message: 'Phone logins are disabled' })
  if (!call.settings.email_enabled) {
    throw refuse('email_provider_disabled', { status: 422, message: 'Email logins are disabled' })
  }
  const guess = await takeGuess(tools, call.client, normalEmail(email))
  const { user } = guess
  try {
    const right = await tools.passwords.compare(password, user?.encrypted_password || null)
    if (user !== null && right) return await enter(call, tools, user, password)
  } catch (error) {
    // It was right, or was not compared.
    await guess.giveBack().catch(() => undefined)
    throw error
  }
  throw refuse('invalid_credentials')
}

/** Only a caller with the right password learns that the account is closed. */
async function enter(call: Call, tools: AuthTools, user: UserRow, password: string): Promise<Outcome> {
  if (user.banned) throw refuse('user_banned', { status: 400 })
  if (user.email_confirmed_at === null) throw refuse('email_not_confirmed')
  const rehashed = await outdatedHash(tools, user, password)
  const started = await tools.database.transaction((run) => signIn(run, tools, call, user, rehashed))
  return json({ ...withWeakness(await sessionJson(tools, call, started), password, call) })
}

interface Rehashed {
  readonly old: string
  readonly hash: string
}

async function outdatedHash({ passwords }: AuthTools, user: UserRow, password: string): Promise<Rehashed | null> {
  const old = user.encrypted_password ?? ''
  return passwords.isOutdated(old) ? { old, hash: await passwords.hash(password) } : null
}

/** The password was compared before the user was locked: it has to be the same still. */
async function signIn(
  run: RunStatement,
  tools: AuthTools,
  call: Call,
  user: UserRow,
  rehashed: Rehashed | null,
): Promise<StartedSession> {
  const present = await findLockedUser(run, user.id)
  if (present === null || present.encrypted_password !== user.encrypted_password) throw refuse('invalid_credentials')
  if (present.banned) throw refuse('user_banned', { status: 400 })
  if (rehashed !== null) await replaceHash(run, user.id, rehashed.old, rehashed.hash)
  if (present.identities.length === 0) await addIdentity(run, present)
  return startSession(run, tools, call, present, 'password')
}

/** Users that were written by hand often have none (spec/auth.md 13, restored data). */
async function addIdentity(run: RunStatement, { id, email }: UserRow): Promise<void> {
  await ensureEmailIdentity(run, id, { sub: id, email, email_verified: true, phone_verified: false })
}

/** Tells the client when the present rules would not let the password pass (spec/auth.md 3.3). */
function withWeakness(session: SessionJson, password: string, { settings }: Call): SessionJson {
  const weak_password = judgeStrength(password, settings)
  return weak_password === null ? session : { ...session, weak_password }
}
