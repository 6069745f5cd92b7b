import { randomUUID } from 'node:crypto'
import { retries, retry } from '../../lib/retry.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import { savingUser, confirmAddress, endPending } from './accounts.ts'
import type { Call } from '../call/call.ts'
import { steadyTokens, type IssuedToken, type OneTimeTokens } from '../secrets/one-time-tokens.ts'
import { type AuthTools, lockCaller, owesFactor, type AccountHolder } from './tools.ts'
import type { UserRow, UserRef } from '../protocol/records.ts'
import { refuse, type AuthFailure } from '../protocol/errors.ts'
import { setUserEmail, mergeAppMetadata } from '../store/admin-users.ts'
import { releaseAddress } from '../store/email-changes.ts'
import {
  endGuestState,
  findAccountsByAddress,
  findIdentityOwner,
  findUserWithSession,
  purgeAccount,
  findUserById,
  insertUser,
  mergeUserMetadata,
  replaceUserMetadata,
} from '../store/users.ts'
import type { SendMail } from '../mails/mailer.ts'
import { mailVariables } from '../mails/variables.ts'
import type { ProviderName } from '../providers/provider-table.ts'
import {
  type OpenIdProfile,
  decideLink,
  type AccountFacts,
  type LinkDecision,
  addProvider,
  onlyProviders,
} from '../rules/providers.ts'
import { audit } from '../store/audit-log.ts'
import { deleteOtherIdentities, putProviderIdentity } from '../store/identities.ts'
import { putOneTimeToken } from '../store/one-time-tokens.ts'
import { deleteSessionsOf } from '../store/sessions.ts'

/** The result of account linking; a refusal is a value if its side effects must be kept. */
export type Linked =
  | { readonly kind: 'user'; readonly user: UserRow }
  | { readonly kind: 'refused'; readonly failure: AuthFailure }

/** A sign-in in progress: its one transaction, which may send a mail. */
export interface Linking {
  readonly run: RunStatement
  readonly send: SendMail
  readonly call: Call
  readonly oneTime: Pick<OneTimeTokens, 'issue'>
  readonly provider: ProviderName
  readonly profile: OpenIdProfile
  /** The destination of the redirect, also of a mailed link. */
  readonly destination: string
}

/** Finds or creates the account that the provider's person opens (spec/auth.md 6.5). */
export async function linkAccount(linking: Linking): Promise<Linked> {
  const { run, call, provider, profile } = linking
  const decision = decideLink({
    owner: await findIdentityOwner(run, provider, profile.subject),
    sameAddress: profile.email === null ? [] : await findAccountsByAddress(run, profile.email),
    email: profile.email,
    verified: profile.verified,
    signUpDisabled: call.settings.disable_signup,
  })
  return act(linking, decision)
}

async function act(linking: Linking, decision: LinkDecision): Promise<Linked> {
  switch (decision.kind) {
    case 'sign-in':
      return signIn(linking, decision.account, decision.confirm)
    case 'link':
      return link(linking, decision.account)
    case 'take-over':
      return takeOver(linking, decision.account)
    case 'create':
      return createLinked(linking, decision.email, decision.confirmed)
    case 'remind':
      return remind(linking, decision.account)
    case 'refuse':
      throw refusal(decision.reason)
  }
}

function refusal(reason: 'banned' | 'signup-disabled' | 'several'): AuthFailure {
  if (reason === 'banned') return refuse('user_banned')
  if (reason === 'signup-disabled') return refuse('signup_disabled')
  return refuse(
    'unexpected_failure',
    'Multiple accounts with the same email address in the same linking domain detected: default',
  )
}

async function signIn(linking: Linking, account: AccountFacts, confirm: boolean): Promise<Linked> {
  const { run } = linking
  if (confirm) await confirmAddress(run, account, 'provider')
  await joinIdentity(linking, account.id)
  return userOf(run, account.id)
}

async function joinIdentity(linking: Linking, userId: string): Promise<void> {
  const { run, provider, profile } = linking
  await keepIdentity(linking, userId)
  await mergeUserMetadata(run, userId, profile.data)
  const { raw_app_meta_data: metadata } = await presentUser(run, userId)
  await mergeAppMetadata(run, userId, { ...addProvider(metadata, provider) })
}

/** Adds the provider's identity to an account; nothing else changes. */
async function link(linking: Linking, account: { readonly id: string }): Promise<Linked> {
  const { run, call, provider } = linking
  await joinIdentity(linking, account.id)
  const user = await presentUser(run, account.id)
  await audit(run, { action: 'identity_linked', actor: user, address: call.client.address, traits: { provider } })
  return { kind: 'user', user }
}

/** Removes everything that a stranger may have set: spec/auth.md, attack 1. */
async function takeOver(linking: Linking, account: AccountFacts): Promise<Linked> {
  const { run, call, provider, profile } = linking
  await confirmAddress(run, account, 'provider')
  await keepIdentity(linking, account.id)
  await deleteOtherIdentities(run, account.id, provider, profile.subject)
  await deleteSessionsOf(run, account.id)
  await endPending(run, account.id)
  await purgeAccount(run, account.id)
  await replaceUserMetadata(run, account.id, profile.data)
  const user = await presentUser(run, account.id)
  await mergeAppMetadata(run, user.id, { ...onlyProviders(user.raw_app_meta_data, [provider]) })
  await audit(run, { action: 'identity_linked', actor: user, address: call.client.address, traits: { provider } })
  return userOf(run, account.id)
}

async function createLinked(linking: Linking, email: string | null, confirmed: boolean): Promise<Linked> {
  const { run, call, oneTime, provider, profile } = linking
  const mailed = email !== null && !confirmed ? oneTime.issue('confirmation', email, 'implicit') : null
  const id = randomUUID()
  const user = {
    id,
    email,
    passwordHash: null,
    appMetadata: { ...onlyProviders(null, [provider]) },
    userMetadata: profile.data,
    confirmationToken: mailed?.token ?? '',
  }
  await insertUser(run, user, call.settings)
  await keepIdentity(linking, id)
  const actor = { id, email }
  if (mailed === null) {
    if (confirmed) await confirmAddress(run, actor, 'provider')
    await audit(run, { action: 'user_signedup', actor, address: call.client.address, traits: { provider } })
    return userOf(run, id)
  }
  await putOneTimeToken(run, { userId: id, ...mailed })
  await sendConfirmation(linking, actor, mailed)
  return { kind: 'refused', failure: refuse('provider_email_needs_verification') }
}

async function remind(linking: Linking, account: AccountFacts): Promise<Linked> {
  const { run, oneTime } = linking
  const issued = oneTime.issue('confirmation', account.email ?? '', 'implicit')
  await putOneTimeToken(run, { userId: account.id, ...issued })
  await sendConfirmation(linking, account, issued)
  return { kind: 'refused', failure: refuse('provider_email_needs_verification') }
}

async function sendConfirmation(
  { run, send, call, profile, destination }: Linking,
  { id, email }: UserRef,
  issued: IssuedToken,
): Promise<void> {
  const [recipient, { client, settings }] = [email ?? '', call]
  await audit(run, { action: 'user_confirmation_requested', actor: { id, email }, address: client.address })
  const facts = { issued, linkType: 'signup', destination, email: recipient, newEmail: '', data: profile.data } as const
  send({ kind: 'confirmation', recipient, variables: mailVariables(settings, facts) })
}

const keepIdentity = ({ run, provider, profile }: Linking, userId: string): Promise<void> =>
  putProviderIdentity(run, { userId, provider, subject: profile.subject, data: profile.data })

async function presentUser(run: RunStatement, id: string): Promise<UserRow> {
  const user = await findUserById(run, id)
  if (user === null) throw new Error('A user who was just locked is not there.')
  return user
}

const userOf = async (run: RunStatement, id: string): Promise<Linked> => ({
  kind: 'user',
  user: await presentUser(run, id),
})

interface Work<T> {
  readonly link: (linking: Linking) => Promise<Linked>
  /** Stores rows together with the link. */
  readonly then: (run: RunStatement, user: UserRow) => Promise<T>
}

/**
 * Links an account, and stores the rows of `then` with it, in one transaction that may send a mail. Two concurrent
 * first sign-ins of one person create one account: the second finds it.
 */
export function linkAndKeep<T>(
  call: Call,
  tools: AuthTools,
  given: Pick<Linking, 'provider' | 'profile' | 'destination'>,
  work: Work<T>,
): Promise<T> {
  const once = async (): Promise<T> => {
    const oneTime = steadyTokens(tools.oneTime)
    const ended = await tools.mailer.withMail(call.settings, async (run, send) => {
      const linked = await work.link({ ...given, run, send, call, oneTime })
      return linked.kind === 'refused' ? linked : { kind: 'kept' as const, value: await work.then(run, linked.user) }
    })
    if (ended.kind === 'refused') throw ended.failure
    return ended.value
  }
  return savingUser(() => retry(retries.accountLink, once, isTaken))
}

const isTaken = (error: unknown): boolean => error instanceof DatabaseFailure && error.sqlstate === '23505'

/** Identities are sign-in methods: changing them requires the second factor, if there is one (spec/auth.md 5.6). */
export function checkMayLink(caller: AccountHolder): void {
  if (!owesFactor(caller)) return
  throw refuse('insufficient_aal', {
    status: 403,
    message: 'AAL2 session is required to link or unlink identities when MFA is enabled.',
  })
}

/**
 * A signed-in user adds the provider's identity to their account (spec/auth.md 5.6). Throws the refusals of that
 * section.
 */
export async function linkToUser(linking: Linking, caller: AccountHolder): Promise<Linked> {
  const { run, call, provider, profile } = linking
  if (!call.settings.manual_linking) throw refuse('manual_linking_disabled')
  const present = await lockCaller(run, caller)
  checkMayLink(present)
  const { user } = present
  const userId = user.id
  const owner = await findIdentityOwner(run, provider, profile.subject)
  if (owner !== null) {
    const whose = owner.id === userId ? '' : ' to another user'
    throw refuse('identity_already_exists', `Identity is already linked${whose}`)
  }
  const proved = profile.verified && !user.email ? profile.email : null
  if (proved !== null) await releaseAddress(run, proved, userId)
  const holders = profile.email === null ? [] : await findAccountsByAddress(run, profile.email)
  if (holders.some(({ id }) => id !== userId)) throw refuse('email_conflict_identity_not_deletable')
  if (proved !== null) {
    await setUserEmail(run, userId, proved)
    await confirmAddress(run, { id: userId, email: proved }, 'provider')
  }
  await endGuestState(run, userId)
  return link(linking, user)
}

/** The same when the provider sends the browser back: the requesting session must still exist. */
export async function linkReturned(linking: Linking, userId: string, sessionId: string | null): Promise<Linked> {
  const found = await findUserWithSession(linking.run, userId, sessionId)
  if (found === null) throw refuse('user_not_found')
  if (found.session === null) throw refuse('session_not_found')
  return linkToUser(linking, { user: found, session: found.session })
}
