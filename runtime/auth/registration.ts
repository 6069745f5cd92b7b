import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../db/statements.ts'
import type { Call } from './call.ts'
import { startMailFlow } from './mails/mail-flow.ts'
import type { Send, Undo } from './mails/mailer.ts'
import { mailVariables } from './mails/variables.ts'
import type { IssuedToken } from './one-time/tokens.ts'
import type { Challenge } from './rules/pkce.ts'
import { emailAppMetadata, emailUserMetadata } from './rules/user-json.ts'
import { hasWayIn } from './rules/ways-in.ts'
import { markPasswordAmbiguous } from './store/account-marks.ts'
import { audit } from './store/audit-log.ts'
import { ensureEmailIdentity } from './store/identities.ts'
import { copyOneTimeToken, replaceOneTimeToken } from './store/one-time-tokens.ts'
import { deleteUnconfirmedUser, findUserById, insertUser, lockUser } from './store/users.ts'
import type { AuthTools } from './tools.ts'
import type { JsonObject, UserRow } from './types.ts'

/** Accounts that wait for their address to be confirmed: POST /signup and POST /otp make and remind them alike. */

/** What somebody who wants an account gives, checked. */
export interface Registration {
  readonly email: string
  readonly data: JsonObject
  readonly challenge: Challenge | null
  readonly destination: string
}

/** Makes an account and mails its confirmation. Throws what the mailer does; then there is no account. */
export async function createUnconfirmed(
  call: Call,
  tools: AuthTools,
  input: Registration,
  hash: string | null,
): Promise<UserRow> {
  const issued = issueConfirmation(tools, input)
  const created = await tools.mailer.withMail(call.settings, async (run, send) => {
    const id = await insertAccount(run, input, hash, issued.token)
    await copyOneTimeToken(run, { userId: id, ...issued })
    const undo: Undo = (later) => deleteUnconfirmedUser(later, id, issued.token)
    await requestConfirmation(run, send, call, input, { userId: id, issued, undo })
    return findUserById(run, id)
  })
  if (created === null) throw new Error('A user that was just made is not there.')
  return created
}

/**
 * Mails the confirmation of an account anew; null when it was confirmed meanwhile. `ambiguous`: whoever asks did not
 * show the stored password, so whose it is will not be known when the address is confirmed (section 4.2).
 */
export async function remindUnconfirmed(
  call: Call,
  tools: AuthTools,
  input: Registration,
  user: UserRow,
  ambiguous: boolean,
): Promise<UserRow | null> {
  // Kept even where no mail may follow yet: the link of the one before still confirms the account.
  if (ambiguous && hasWayIn(user)) await markPasswordAmbiguous(tools.database.run, user.id)
  const issued = issueConfirmation(tools, input)
  return tools.mailer.withMail(call.settings, async (run, send) => {
    await lockUser(run, user.id)
    const locked = await findUserById(run, user.id)
    if (locked === null || locked.email_confirmed_at !== null) return null
    const undo = await replaceOneTimeToken(run, { userId: user.id, ...issued })
    await requestConfirmation(run, send, call, input, { userId: user.id, issued, undo })
    return findUserById(run, user.id)
  })
}

/** One INSERT of the user: triggers of the owner see all there is to see (section 13). Gives the id. */
export async function insertAccount(
  run: RunStatement,
  { email, data }: Pick<Registration, 'email' | 'data'>,
  hash: string | null,
  token: string,
): Promise<string> {
  const id = randomUUID()
  const userMetadata = emailUserMetadata(id, email, data, false)
  await insertUser(run, {
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email,
    passwordHash: hash,
    appMetadata: emailAppMetadata,
    userMetadata,
    isAnonymous: false,
    confirmationToken: token,
  })
  await ensureEmailIdentity(run, id, userMetadata)
  return id
}

function issueConfirmation({ oneTime }: AuthTools, { email, challenge }: Registration): IssuedToken {
  return oneTime.issue('confirmation', email, challenge === null ? 'implicit' : 'pkce')
}

interface Confirmation {
  readonly userId: string
  readonly issued: IssuedToken
  readonly undo: Undo
}

async function requestConfirmation(
  run: RunStatement,
  send: Send,
  { settings, client }: Call,
  { email, data, challenge, destination }: Registration,
  { userId, issued, undo }: Confirmation,
): Promise<void> {
  const flow = { userId, challenge, providerType: 'email', method: 'email/signup', destination } as const
  const undoFlow = await startMailFlow(run, flow)
  await audit(run, { action: 'user_confirmation_requested', actor: { id: userId, email }, address: client.address })
  const variables = mailVariables(settings, { issued, linkType: 'signup', destination, email, newEmail: '', data })
  await send({ kind: 'confirmation', recipient: email, variables }, async (later) => {
    await undoFlow(later)
    await undo(later)
  })
}
