import type { RunStatement } from '../../db/pool/statements.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { refuse } from '../protocol/errors.ts'
import { emailAppMetadata } from '../rules/user-json.ts'
import type { AddressProof } from '../rules/providers.ts'
import {
  noteAddressProof,
  confirmUser,
  clearUserTokens,
  dropPassword,
  findUserByEmail,
  replaceUserMetadata,
} from '../store/users.ts'
import { audit } from '../store/audit-log.ts'
import { releaseAddress, setConfirmedAddress } from '../store/email-changes.ts'
import { mergeAppMetadata } from '../store/admin-users.ts'
import { deleteProviderIdentities, ensureEmailIdentity, setEmailIdentity } from '../store/identities.ts'
import { deleteFlowsOf, deleteIssuedFlowsOf } from '../store/flow-states.ts'
import { clearOneTimeTokens } from '../store/one-time-tokens.ts'
import { deleteSessionsOf } from '../store/sessions.ts'
import { statusOfTrigger } from '../protocol/input.ts'
import type { UserRef, UserRow } from '../protocol/records.ts'

/** Actions on accounts that several endpoints share; each runs in its caller's transaction. */

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
 * The account has the address from now on, and everything requested for the old one is void (spec/auth.md 5.4, attack
 * 41). Throws 422 `email_exists` if another account got it first.
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

/** Two accounts requested the address: it goes to the one that alone opens its mailbox (spec/auth.md 5.4). */
async function leaveToMailbox(run: RunStatement, userId: string): Promise<void> {
  await Promise.all([dropPassword(run, userId), deleteSessionsOf(run, userId)])
}

/** Throws 422 `email_exists` if another account has the address. */
export async function checkAddressIsFree(run: RunStatement, userId: string, email: string): Promise<void> {
  const owner = await findUserByEmail(run, email)
  if (owner !== null && owner.id !== userId) throw refuse('email_exists')
}

/** The same, unless the account with the address may still lose it to the one that proves the mailbox. */
export async function checkAddressIsWon(run: RunStatement, userId: string, email: string): Promise<void> {
  const owner = await findUserByEmail(run, email)
  if (owner === null || owner.id === userId) return
  if (owner.email_confirmed_at !== null || owner.invited_at !== null) throw refuse('email_exists')
}

/**
 * Voids the mails to the user, a pending change of address, and the flows that the user began at a provider
 * (spec/auth.md, attacks 41 and 46).
 */
export async function endPending(run: RunStatement, userId: string): Promise<void> {
  await Promise.all([clearUserTokens(run, userId), clearOneTimeTokens(run, userId), deleteFlowsOf(run, userId)])
}

/** Runs work that creates a user: every refusal of the database, also by the owner's triggers, becomes one sentence. */
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

/** Unique constraints of addresses: ours, and the additional one of projects from before 2023. */
const addressKeys: ReadonlySet<unknown> = new Set(['users_email_partial_key', 'users_email_key'])

/** A concurrent call used the address first. */
export function isTakenAddress(error: unknown): boolean {
  if (!(error instanceof DatabaseFailure) || error.sqlstate !== '23505') return false
  const { cause } = error
  return cause instanceof Error && 'constraint' in cause && addressKeys.has(cause.constraint)
}

/** Rethrows the error of a change of address; 422 `email_exists` if a concurrent call used it first. */
export function refuseTakenAddress(error: unknown): never {
  throw isTakenAddress(error) ? refuse('email_exists') : error
}
