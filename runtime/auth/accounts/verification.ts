import type { RunStatement } from '../../db/pool/statements.ts'
import { confirmAddress, finishEmailChange } from './accounts.ts'
import type { Call } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { pkcePrefix, withoutPrefix, type Presented } from '../secrets/one-time-tokens.ts'
import { markPasswordAmbiguous, findLockedUser } from '../store/users.ts'
import { audit } from '../store/audit-log.ts'
import { mailboxesOf, type ChangeMailbox } from '../rules/email.ts'
import { confirmedSlot, noteFirstConfirmation } from '../store/email-changes.ts'
import type { GuessedAt } from '../store/codes.ts'
import { findTokenHolder, spendOneTimeToken, type TokenSlot } from '../store/one-time-tokens.ts'
import { deleteSessionsOf } from '../store/sessions.ts'
import type { AuthTools } from './tools.ts'
import type { UserRow } from '../protocol/records.ts'

/** Codes and links from mailboxes (spec/auth.md 4.12, 4.13 and 5.4). */

/** The possible slots of a type, in the order in which they are tried. */
const slotsOfType = {
  signup: ['confirmation'],
  invite: ['confirmation'],
  recovery: ['recovery'],
  magiclink: ['recovery'],
  email_change: ['email_change_current', 'email_change_new'],
  email: ['confirmation', 'recovery'],
} as const satisfies Readonly<Record<string, readonly TokenSlot[]>>

export type VerificationType = keyof typeof slotsOfType

/** The same for a typed code. */
const guessedAtOfType: Readonly<Record<VerificationType, GuessedAt>> = {
  signup: 'confirmation',
  invite: 'confirmation',
  recovery: 'recovery',
  magiclink: 'recovery',
  email_change: 'email_change',
  email: 'either',
}

export function isVerificationType(type: string): type is VerificationType {
  return Object.hasOwn(slotsOfType, type)
}

/** By a typed code: costs a guess of every code that it could be, also if the call fails. Null: wrong. */
export function presentCode(
  { oneTime, database }: AuthTools,
  { settings }: Call,
  type: VerificationType,
  address: string,
  code: string,
): Promise<Presented | null> {
  return oneTime.find(database.run, { address, code, lifetime: settings.otp_exp }, guessedAtOfType[type])
}

/** By the token of a link. Null: unknown, spent or old. */
export async function presentToken(
  { database }: AuthTools,
  { settings }: Call,
  type: VerificationType,
  given: string,
): Promise<Presented | null> {
  const token = withoutPrefix(given)
  if (!/^[0-9a-f]{56}$/.test(token)) return null
  const holder = await findTokenHolder(database.run, token, pkcePrefix, slotsOfType[type])
  if (holder === null || holder.issued_seconds_ago > settings.otp_exp) return null
  return { userId: holder.user_id, slot: holder.slot, token: holder.token }
}

/** The type in the link's address (spec/auth.md 4.13). */
export type ResolvedType = Exclude<VerificationType, 'email'>

export interface Accepted {
  readonly user: UserRow
  readonly type: ResolvedType
  /** False: another mailbox must confirm too. */
  readonly complete: boolean
}

/**
 * Spends a token and applies its effect, in its caller's transaction: of concurrent calls one succeeds, because the
 * user is locked and the token found and spent by one statement (spec/auth.md, attacks 18 and 40). Throws 403
 * `otp_expired` and `user_banned`, 422 `email_exists`; then nothing is spent.
 */
export async function acceptToken(
  run: RunStatement,
  call: Call,
  type: VerificationType,
  { userId, slot, token }: Presented,
): Promise<Accepted> {
  const [user, spent] = await Promise.all([findLockedUser(run, userId), spendOneTimeToken(run, userId, slot, token)])
  if (user === null) throw refuse('otp_expired')
  if (user.banned) throw refuse('user_banned')
  if (!spent) throw refuse('otp_expired')
  const accepted = { user, type: resolve(type, slot, user), complete: true }
  switch (slot) {
    case 'confirmation':
      await confirmOnce(run, call, user)
      return accepted
    case 'recovery':
      await proveByRecovery(run, call, user)
      return accepted
    case 'email_change_new':
    case 'email_change_current':
      return { ...accepted, complete: await confirmChange(run, call, user, slot) }
    case 'reauthentication':
      throw refuse('otp_expired')
  }
}

function resolve(type: VerificationType, slot: TokenSlot, user: UserRow): ResolvedType {
  if (type !== 'email') return type
  if (slot === 'recovery') return 'magiclink'
  return user.invited_at !== null && user.email_confirmed_at === null ? 'invite' : 'signup'
}

async function confirmOnce(run: RunStatement, { client }: Call, user: UserRow): Promise<void> {
  if (user.email_confirmed_at !== null) return
  await Promise.all([
    confirmAddress(run, user, 'mailbox'),
    audit(run, { action: 'user_signedup', actor: user, address: client.address }),
  ])
}

/**
 * The person who opens the link has the mailbox; passwords and identities of an unconfirmed account may be a stranger's
 * (spec/auth.md, attack 3).
 */
async function proveByRecovery(run: RunStatement, call: Call, user: UserRow): Promise<void> {
  if (user.email_confirmed_at !== null) return
  if (hasWayIn(user)) await markPasswordAmbiguous(run, user.id)
  await confirmOnce(run, call, user)
  await deleteSessionsOf(run, user.id)
}

/**
 * Whether the person who created an account could return to it: with their password, or their account at a provider.
 * While the address is unconfirmed, another person may be the one who confirms it.
 */
function hasWayIn({ encrypted_password: password, identities }: UserRow): boolean {
  return (password ?? '') !== '' || identities.some(({ provider }) => provider !== 'email')
}

/** True once no other mailbox must confirm, whatever mails were sent. */
async function confirmChange(
  run: RunStatement,
  { client, settings }: Call,
  user: UserRow,
  slot: ChangeMailbox,
): Promise<boolean> {
  const email = user.email_change ?? ''
  if (email === '') throw refuse('otp_expired')
  const confirmed = [slot, await confirmedSlot(run, user.id)]
  if (mailboxesOf(user, settings).some((needed) => !confirmed.includes(needed))) {
    await noteFirstConfirmation(run, user.id, slot)
    return false
  }
  await finishEmailChange(run, user, email, 'mailbox', client.address)
  return true
}
