import type { RunStatement } from '../../db/pool/statements.ts'
import { takeGuess } from '../accounts/password-guesses.ts'
import { json, type Call, type Outcome } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { normalEmail } from '../rules/email.ts'
import { judgeStrength } from '../rules/password.ts'
import { beginSession, sessionJson } from '../accounts/sign-in.ts'
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

/**
 * Only a caller with the right password learns that the account is closed. The password was compared before the user's
 * row was locked: it has to be the same still.
 */
async function enter(call: Call, tools: AuthTools, user: UserRow, password: string): Promise<Outcome> {
  refuseClosed(user)
  if (user.email_confirmed_at === null) throw refuse('email_not_confirmed')
  const provedHash = isWhole(tools, user) ? (user.encrypted_password ?? '') : await complete(tools, user, password)
  const begun = await tools.database.together((run) =>
    beginSession(run, tools, call, user, { way: 'password', provedHash }),
  )
  if (begun.started !== null) {
    return json({ ...withWeakness(await sessionJson(tools, call, begun.started), password, call) })
  }
  if (begun.user?.encrypted_password === provedHash) refuseClosed(begun.user)
  throw refuse('invalid_credentials')
}

function refuseClosed({ banned }: UserRow): void {
  if (banned) throw refuse('user_banned', { status: 400 })
}

/** Whether the account is as we would have made it: rows that came from elsewhere often are not. */
const isWhole = ({ passwords }: AuthTools, user: UserRow): boolean =>
  user.identities.length > 0 && !passwords.isOutdated(user.encrypted_password ?? '')

/** Makes it so, and returns the hash of the password that it has from now on. */
async function complete({ passwords, database }: AuthTools, user: UserRow, password: string): Promise<string> {
  const old = user.encrypted_password ?? ''
  const hash = passwords.isOutdated(old) ? await passwords.hash(password) : old
  await database.transaction(async (run) => {
    const present = await findLockedUser(run, user.id)
    if (present === null || present.encrypted_password !== old) throw refuse('invalid_credentials')
    refuseClosed(present)
    if (hash !== old) await replaceHash(run, user.id, old, hash)
    if (present.identities.length === 0) await addIdentity(run, present)
  })
  return hash
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
