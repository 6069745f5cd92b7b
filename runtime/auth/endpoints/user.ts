import type { RunStatement } from '../../db/pool/statements.ts'
import { checkAddressIsWon, endPending, finishEmailChange } from '../accounts/accounts.ts'
import { addressHashOf, takeOwnGuess } from '../accounts/sign-in.ts'
import { lockCaller, owesFactor, type AccountHolder, type AuthTools } from '../accounts/tools.ts'
import {
  json,
  type Outcome,
  type UserCall,
  destinationOf,
  checkedChallenge,
  checkedEmail,
  checkMetadataChange,
  checkNewPassword,
} from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { mailEmailChange, type MailingParts } from '../mails/mail-token.ts'
import type { SendMail } from '../mails/mailer.ts'
import { mailboxesOf } from '../rules/email.ts'
import { steadyTokens } from '../secrets/one-time-tokens.ts'
import { userJson } from '../rules/user-json.ts'
import { audit } from '../store/audit-log.ts'
import { resetGuesses } from '../store/password-guesses.ts'
import { ensureEmailIdentity } from '../store/identities.ts'
import { beginChange } from '../store/email-changes.ts'
import { clearOneTimeToken, spendOneTimeToken } from '../store/one-time-tokens.ts'
import { deleteOtherSessions, isRecoverySession } from '../store/sessions.ts'
import { findUserById, mergeUserMetadata, setPasswordHash } from '../store/users.ts'
import type * as io from '../io/user.ts'
import type { JsonObject } from '../../lib/json.ts'

/** GET /user (spec/auth.md 5.1). */
export async function getUser({ user }: UserCall): Promise<Outcome> {
  return json(userJson(user))
}

type Updating = UserCall<typeof io.updateUser>

interface Change {
  readonly password: string | null
  /** In stored form, and different from the present one. */
  readonly email: string | null
  readonly data: JsonObject | null
}

/** PUT /user (spec/auth.md 5.2): the checks in its order, then everything in one transaction. */
export async function updateUser(call: Updating, tools: AuthTools): Promise<Outcome> {
  const change = readChange(call)
  checkRights(call, change)
  if (change.email !== null) await checkAddressIsWon(tools.database.run, call.user.id, change.email)
  const proof = change.password === null ? noProof : await checkPasswordChange(tools, call, change.password)
  if (call.body.phone) throw refuse('phone_provider_disabled')
  const hash = change.password === null ? null : await tools.passwords.hash(change.password)
  await carryOut(call, tools, change, hash === null ? null : { hash, ...proof })
  const user = await findUserById(tools.database.run, call.user.id)
  if (user === null) throw refuse('user_not_found')
  return json(userJson(user))
}

function readChange(call: Updating): Change {
  const { body, settings, user } = call
  // An empty value is neither a password nor an address: only absent members stay unchanged.
  const { password = null } = body
  if (password !== null) checkNewPassword(password, settings)
  if (body.app_metadata !== undefined) {
    throw refuse('not_admin', 'Updating app_metadata requires admin privileges')
  }
  checkedChallenge(body)
  const email = body.email === undefined ? null : checkedEmail(body.email)
  if (email !== null) destinationOf(call)
  const sameEmail = email !== null && email === user.email?.toLowerCase()
  return { password, email: sameEmail ? null : email, data: body.data ?? null }
}

function checkRights(caller: AccountHolder, { password, email }: Change): void {
  const changesSignIn = password !== null || email !== null
  if (changesSignIn && owesFactor(caller)) throw refuse('insufficient_aal')
  if ((caller.user.email ?? '') === '' && password !== null && email === null) {
    throw refuse('validation_failed', {
      status: 422,
      message: 'Updating password of an anonymous user without an email or phone is not allowed',
    })
  }
}

/** Older sessions need a mailed code, if the owner requires it. */
const freshSeconds = 86_400

/** The proof for a change of password, which is spent with it. */
interface Proof {
  /** The token of a typed code; null if none was needed. */
  readonly nonceToken: string | null
}

const noProof: Proof = { nonceToken: null }

async function checkPasswordChange(tools: AuthTools, call: Updating, password: string): Promise<Proof> {
  const { settings, session } = call
  const isOld = session === null || session.age > freshSeconds
  const nonceToken = settings.password_reauthentication && isOld ? await checkNonce(tools, call) : null
  const asksCurrent = settings.password_require_current && !(await isOfRecovery(tools, call))
  if (await isPresentPassword(tools, call, password, asksCurrent)) throw refuse('same_password')
  return { nonceToken }
}

async function checkNonce({ oneTime, database }: AuthTools, { body, user, settings }: Updating): Promise<string> {
  const { nonce = '' } = body
  if (nonce === '') throw refuse('reauthentication_needed')
  const attempt = {
    userId: user.id,
    slot: 'reauthentication',
    address: user.email?.toLowerCase() ?? '',
    code: nonce,
    lifetime: settings.otp_exp,
  } as const
  const token = await oneTime.check(database.run, attempt)
  if (token === null) throw refuse('reauthentication_not_valid')
  return token
}

/** A user who comes from the mail of a reset has forgotten the password. */
async function isOfRecovery({ database }: AuthTools, { session }: UserCall): Promise<boolean> {
  return session !== null && (await isRecoverySession(database.run, session.id))
}

/**
 * Whether the new password equals the present one, after a check of `current_password` if required. The answer reveals
 * that even if the change fails later, so each comparison counts as a guess until the change is made.
 */
async function isPresentPassword(
  tools: AuthTools,
  call: Updating,
  password: string,
  asksCurrent: boolean,
): Promise<boolean> {
  const { passwords } = tools
  const { current_password: current = '' } = call.body
  const stored = call.user.encrypted_password || null
  // A user without a password cannot know it.
  if (stored === null) return passwords.compare(password, stored)
  if (asksCurrent && current === '') throw refuse('current_password_required')
  const release = await takeOwnGuess(tools, call)
  if (asksCurrent && !(await passwords.compare(current, stored))) throw refuse('current_password_invalid')
  const isPresent = await passwords.compare(password, stored)
  if (isPresent || asksCurrent) await release()
  return isPresent
}

interface NewPassword extends Proof {
  readonly hash: string
}

async function carryOut(call: Updating, tools: AuthTools, change: Change, password: NewPassword | null): Promise<void> {
  const { email } = change
  if (email === null) return tools.database.transaction((run) => applyOwn(run, tools, call, change, password))
  const oneTime = steadyTokens(tools.oneTime)
  return tools.mailer.withMail(call.settings, async (run, send) => {
    await applyOwn(run, tools, call, change, password)
    await changeEmail(run, send, call, oneTime, email)
  })
}

/** The part of PUT /user for a new address, inside its transaction; the user is locked (spec/auth.md 5.4). */
async function changeEmail(
  run: RunStatement,
  send: SendMail,
  call: Updating,
  oneTime: MailingParts['oneTime'],
  email: string,
): Promise<void> {
  const { settings, client } = call
  const user = await findUserById(run, call.user.id)
  if (user === null) throw refuse('user_not_found')
  const hasAddress = (user.email ?? '') !== ''
  if (user.is_anonymous && !hasAddress && settings.autoconfirm) {
    return finishEmailChange(run, user, email, 'autoconfirm', client.address)
  }
  const slots = mailboxesOf(user, settings)
  await beginChange(run, user.id, email)
  if (slots.length === 1) await clearOneTimeToken(run, user.id, 'email_change_current')
  const mails = { slots, challenge: checkedChallenge(call.body), destination: destinationOf(call) }
  const changing = { ...user, email_change: email }
  await mailEmailChange(run, send, { settings, oneTime }, { ...mails, user: changing })
}

async function applyOwn(
  run: RunStatement,
  tools: AuthTools,
  call: UserCall,
  change: Change,
  password: NewPassword | null,
): Promise<void> {
  const { user, client } = call
  const { data } = change
  const present = await lockCaller(run, call)
  checkRights(present, change)
  if (data !== null) checkMetadataChange(present.user, { user: data, app: null })
  if (password !== null) await applyPassword(run, tools, call, password)
  if (data === null) return
  await Promise.all([
    mergeUserMetadata(run, user.id, data),
    audit(run, { action: 'user_modified', actor: user, address: client.address }),
  ])
}

/** A new password voids everything of the old one: every pending code and link, and every other session. */
async function applyPassword(
  run: RunStatement,
  tools: AuthTools,
  { user, session, client }: UserCall,
  { hash, nonceToken }: NewPassword,
): Promise<void> {
  if (nonceToken !== null && !(await spendOneTimeToken(run, user.id, 'reauthentication', nonceToken))) {
    throw refuse('reauthentication_not_valid')
  }
  const { id, email } = user
  const sessionId = session?.id ?? null
  const identity = { sub: id, email, email_verified: user.email_confirmed_at !== null, phone_verified: false }
  await Promise.all([
    setPasswordHash(run, id, hash),
    endPending(run, id),
    resetGuesses(run, {
      userId: id,
      addressHash: addressHashOf(tools, user),
      sessionId,
      device: tools.deviceOf(client),
    }),
    deleteOtherSessions(run, id, sessionId),
    ensureEmailIdentity(run, id, identity, email !== null),
    audit(run, { action: 'user_updated_password', actor: user, address: client.address }),
  ])
}
