import type { RunStatement } from '../../db/pool/statements.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { refuse } from '../protocol/errors.ts'
import { emailAppMetadata } from '../rules/user-json.ts'
import type { AddressProof } from '../rules/linking.ts'
import { noteAddressProof } from '../store/account-marks.ts'
import { audit } from '../store/audit-log.ts'
import { confirmUser } from '../store/confirm-address.ts'
import { releaseAddress, setConfirmedAddress } from '../store/email-changes.ts'
import { mergeAppMetadata } from '../store/admin-users.ts'
import { deleteProviderIdentities, ensureEmailIdentity, setEmailIdentity } from '../store/identities.ts'
import { deleteFlowsOf, deleteIssuedFlowsOf } from '../store/flow-states.ts'
import { clearOneTimeTokens } from '../store/one-time-tokens.ts'
import { deleteSessionsOf } from '../store/sessions.ts'
import { clearUserTokens, dropPassword, findUserByEmail, replaceUserMetadata } from '../store/users.ts'
import { statusOfTrigger } from '../protocol/trigger-status.ts'
import type { UserRef, UserRow } from '../protocol/records.ts'

/** Acts upon accounts that several endpoints share; each runs in its caller's transaction. */

/**
 * Confirms the address of an account. Where sign-ups came with differing passwords, the owner of the stored one is
 * unknown: it is removed, with the metadata of the first caller (spec/auth.md 4.2) and the identities by which that
 * caller could come back. Only a confirmation without any proof keeps the password, since the caller has shown it.
 */
export async function confirmAddress(run: RunStatement, user: UserRef, proof: AddressProof): Promise<void> {
  const isAmbiguous = await confirmUser(run, user.id, proof)
  if (!isAmbiguous || proof === 'autoconfirm') return
  const data = { sub: user.id, email: user.email, email_verified: true, phone_verified: false }
  await Promise.all([
    dropPassword(run, user.id),
    ensureEmailIdentity(run, user.id, data),
    deleteProviderIdentities(run, user.id),
    mergeAppMetadata(run, user.id, { ...emailAppMetadata }),
    replaceUserMetadata(run, user.id, data),
  ])
}

/**
 * The account has the address from now on, and everything that the old one was asked for is over (spec/auth.md 5.4,
 * attack 41). Throws 422 `email_exists` when somebody else has it meanwhile.
 */
export async function finishEmailChange(
  run: RunStatement,
  user: UserRow,
  email: string,
  proof: AddressProof,
  clientAddress: string | null,
): Promise<void> {
  const lost = proof === 'mailbox' ? await releaseAddress(run, email, user.id) : null
  if (lost !== null && (user.email ?? '') === '') await leaveToMailbox(run, user.id)
  await checkAddressIsFree(run, user.id, email)
  await setConfirmedAddress(run, user.id, email).catch(refuseTakenAddress)
  await Promise.all([
    setEmailIdentity(run, user.id, { sub: user.id, email, email_verified: true, phone_verified: false }),
    clearOneTimeTokens(run, user.id),
    deleteIssuedFlowsOf(run, user.id),
    noteAddressProof(run, user.id, proof),
    audit(run, { action: 'user_modified', actor: { id: user.id, email }, address: clientAddress }),
    ...(lost === null
      ? []
      : [audit(run, { action: 'user_modified', actor: { ...lost, email }, address: clientAddress })]),
  ])
}

/** Two people wanted the address: the account is that of the one who opens its mailbox alone (spec/auth.md 5.4). */
async function leaveToMailbox(run: RunStatement, userId: string): Promise<void> {
  await Promise.all([dropPassword(run, userId), deleteSessionsOf(run, userId)])
}

/** Throws 422 `email_exists` where somebody else than that user has the address. */
export async function checkAddressIsFree(run: RunStatement, userId: string, email: string): Promise<void> {
  const owner = await findUserByEmail(run, email)
  if (owner !== null && owner.id !== userId) throw refuse('email_exists')
}

/** The same, where the account that has it may still lose it to the one who proves the mailbox. */
export async function checkAddressIsWon(run: RunStatement, userId: string, email: string): Promise<void> {
  const owner = await findUserByEmail(run, email)
  if (owner === null || owner.id === userId) return
  if (owner.email_confirmed_at !== null || owner.invited_at !== null) throw refuse('email_exists')
}

/**
 * Voids the mails to the user, a change of address under way, and the flows that the user began at a provider
 * (spec/auth.md, attacks 41 and 46).
 */
export async function endPending(run: RunStatement, userId: string): Promise<void> {
  await Promise.all([clearUserTokens(run, userId), clearOneTimeTokens(run, userId), deleteFlowsOf(run, userId)])
}

/** Runs work that makes a user: every refusal of the database, also by the owner's triggers, becomes one sentence. */
export async function savingUser<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof DatabaseFailure) || cause.kind !== 'refused' || isTakenAddress(cause)) throw cause
    throw refuse('unexpected_failure', {
      message: 'Database error saving new user',
      status: statusOfTrigger(cause) ?? 500,
      cause,
    })
  }
}

/** Constraints that keep addresses apart: ours, and the one that projects from before 2023 have besides. */
const addressKeys: ReadonlySet<unknown> = new Set(['users_email_partial_key', 'users_email_key'])

/** Somebody else was faster with the same address. */
export function isTakenAddress(error: unknown): boolean {
  if (!(error instanceof DatabaseFailure) || error.sqlstate !== '23505') return false
  const { cause } = error
  return cause instanceof Error && 'constraint' in cause && addressKeys.has(cause.constraint)
}

/** Rethrows what a change of an address failed with; 422 `email_exists` where somebody else was faster. */
export function refuseTakenAddress(error: unknown): never {
  throw isTakenAddress(error) ? refuse('email_exists') : error
}
