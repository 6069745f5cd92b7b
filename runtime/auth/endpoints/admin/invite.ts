import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../../db/pool/statements.ts'
import { refuseTakenAddress, savingUser } from '../../accounts/accounts.ts'
import { json, type AdminCall, type Outcome, destinationOf, checkedEmail, checkNewMetadata } from '../../call/call.ts'
import type { SendMail } from '../../mails/mailer.ts'
import { mailVariables, type MailFacts } from '../../mails/variables.ts'
import { emailAppMetadata, userJson } from '../../rules/user-json.ts'
import { markInvited } from '../../store/admin-users.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import type { UserRow } from '../../protocol/records.ts'
import { auditAdmin, existingUser } from './target-user.ts'
import { refuse } from '../../protocol/errors.ts'
import type { IssuedToken } from '../../secrets/one-time-tokens.ts'
import { markPasswordAmbiguous, findLockedUser, findUserByEmail, insertUser } from '../../store/users.ts'
import { ensureEmailIdentity } from '../../store/identities.ts'
import { putOneTimeToken } from '../../store/one-time-tokens.ts'
import type { JsonObject } from '../../../lib/json.ts'

type Invitation = Pick<MailFacts, 'email' | 'data' | 'destination' | 'issued'>

/** POST /invite: an account and a mail that opens it; an unconfirmed one is invited again (spec/auth.md 11). */
export async function invite(call: AdminCall<typeof io.invite>, tools: AuthTools): Promise<Outcome> {
  const email = checkedEmail(call.body.email ?? '')
  const data = call.body.data ?? {}
  checkNewMetadata(data, emailAppMetadata)
  const issued = tools.oneTime.issue('confirmation', email, 'implicit')
  const invitation = { email, data, destination: destinationOf(call), issued }
  const user = await savingUser(() =>
    tools.mailer.withMail(call.settings, (run, send) => inviteWithin(run, send, call, invitation)),
  ).catch(refuseTakenAddress)
  return json(userJson(user))
}

async function inviteWithin(
  run: RunStatement,
  send: SendMail,
  call: AdminCall,
  { email, data, destination, issued }: Invitation,
): Promise<UserRow> {
  const userId = await awaitConfirmation(run, call, { email, data, issued, passwordHash: null, provedHash: null })
  await markInvited(run, userId)
  await auditAdmin(run, call, 'user_invited', { id: userId, email })
  const facts = { issued, linkType: 'invite', destination, email, newEmail: '', data } as const
  send({ kind: 'invite', recipient: email, variables: mailVariables(call.settings, facts) })
  return existingUser(run, userId)
}

export interface AwaitedAccount {
  readonly email: string
  readonly data: JsonObject
  readonly passwordHash: string | null
  /** Hash of the existing unconfirmed account, if its password is known to be the administrator's. */
  readonly provedHash: string | null
  readonly issued: IssuedToken
}

/**
 * Creates the account, or takes the existing unconfirmed one, and puts the token into its slot; inside a transaction.
 * Returns its id. Throws 422 `email_exists` if the account is confirmed.
 */
export async function awaitConfirmation(run: RunStatement, call: AdminCall, account: AwaitedAccount): Promise<string> {
  const known = await findUserByEmail(run, account.email)
  return known === null ? createInvited(run, call, account) : takeWaiting(run, known, account)
}

async function createInvited(run: RunStatement, { settings }: AdminCall, account: AwaitedAccount): Promise<string> {
  const userId = randomUUID()
  const { email, data, passwordHash, issued } = account
  const confirmationToken = issued.token
  const user = { id: userId, email, passwordHash, appMetadata: emailAppMetadata, userMetadata: data, confirmationToken }
  await insertUser(run, user, settings)
  await ensureEmailIdentity(run, userId, { sub: userId, email, email_verified: false, phone_verified: false })
  await putOneTimeToken(run, { userId, ...issued })
  return userId
}

/** The first person who signed up for the address may not own it: their password ends with the confirmation. */
async function takeWaiting(
  run: RunStatement,
  { id }: UserRow,
  { issued, provedHash }: AwaitedAccount,
): Promise<string> {
  const user = await findLockedUser(run, id)
  if (user === null || user.email_confirmed_at !== null) throw refuse('email_exists')
  const stored = user.encrypted_password || null
  if (stored !== null && stored !== provedHash) await markPasswordAmbiguous(run, id)
  await putOneTimeToken(run, { userId: id, ...issued })
  return id
}
