import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { Actor, Registration } from '../call/call.ts'
import { startMailFlow } from '../mails/mail-token.ts'
import type { MailWork } from '../mails/mailer.ts'
import { mailVariables } from '../mails/variables.ts'
import type { IssuedToken } from '../secrets/one-time-tokens.ts'
import { emailAppMetadata, emailUserMetadata } from '../rules/user-json.ts'
import { audit } from '../store/audit-log.ts'
import { ensureEmailIdentity } from '../store/identities.ts'
import { putOneTimeToken } from '../store/one-time-tokens.ts'
import { findLockedUser, findUserById, insertUser, type UserSettings } from '../store/users.ts'
import type { AuthTools } from './tools.ts'
import type { UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'

/**
 * Accounts that wait for a confirmation of their address: POST /signup and POST /otp create and remind them alike.
 * Whether an account is created, reminded, or only pretended because its address is in use, the statements are the same
 * in the same order (spec/auth.md, attack 22): unwanted ones change no row.
 */

/** Creates an account and mails its confirmation. Throws the errors of the mailer; then there is no account. */
export async function createUnconfirmed(
  call: Actor,
  tools: AuthTools,
  input: Registration,
  hash: string | null,
): Promise<UserRow> {
  const created = await mailConfirmation(call, tools, input, { id: randomUUID(), hash, isNew: true })
  if (created === null) throw new Error('A user that was just made is not there.')
  return created
}

/** Mails the confirmation of an account again; null if it was confirmed in the meantime. */
export const remindUnconfirmed = (call: Actor, tools: AuthTools, input: Registration, { id }: UserRow) =>
  mailConfirmation(call, tools, input, { id, hash: null, isNew: false })

/** Runs the statements of a new account on a decoy that is rolled back: the address has a confirmed account. */
export function pretendUnconfirmed(call: Actor, tools: AuthTools, input: Registration, user: UserRow): Promise<void> {
  const email = `${randomUUID()}${input.email.slice(input.email.lastIndexOf('@'))}`
  const decoy = confirmationWork(call, tools, { ...input, email }, { id: randomUUID(), hash: null, isNew: true })
  return tools.mailer.pretend(call.settings, input.email, decoy, (run) =>
    audit(run, { action: 'user_repeated_signup', actor: user, address: call.client.address }),
  )
}

interface Account {
  readonly id: string
  /** Of a new account's password. */
  readonly hash: string | null
  /** False: it exists already. */
  readonly isNew: boolean
}

function mailConfirmation(
  call: Actor,
  tools: AuthTools,
  input: Registration,
  account: Account,
): Promise<UserRow | null> {
  return tools.mailer.withMail(call.settings, confirmationWork(call, tools, input, account), async (run, user) => {
    if (user === null) return
    await audit(run, { action: 'user_confirmation_requested', actor: user, address: call.client.address })
  })
}

function confirmationWork(
  { settings }: Actor,
  { oneTime }: AuthTools,
  input: Registration,
  { id, hash, isNew }: Account,
): MailWork<UserRow | null> {
  const { email, data, challenge, destination } = input
  const issued = oneTime.issue('confirmation', email, challenge === null ? 'implicit' : 'pkce')
  return async (run, send) => {
    const [, locked] = await Promise.all([
      insertAccount(run, { id, email, data, hash, token: issued.token }, settings, isNew),
      findLockedUser(run, id),
    ])
    if (locked === null || locked.email_confirmed_at !== null) return null
    const [, , user] = await Promise.all([
      putOneTimeToken(run, { userId: id, ...issued }),
      startMailFlow(run, { userId: id, challenge, providerType: 'email', method: 'email/signup', destination }),
      findUserById(run, id),
    ])
    const facts = { issued, linkType: 'signup', destination, email, newEmail: '', data } as const
    send({ kind: 'confirmation', recipient: email, variables: mailVariables(settings, facts) })
    return user
  }
}

export interface NewAccount {
  readonly id: string
  readonly email: string
  readonly data: JsonObject
  readonly hash: string | null
  /** Of the mailed confirmation; empty: no mail. */
  readonly token: IssuedToken['token']
}

/** One INSERT of the user: triggers of the owner see the complete row (spec/auth.md 13). */
export async function insertAccount(
  run: RunStatement,
  { id, email, data, hash, token }: NewAccount,
  settings: UserSettings,
  wanted = true,
): Promise<void> {
  const userMetadata = emailUserMetadata(id, email, data, false)
  const user = { id, email, passwordHash: hash, appMetadata: emailAppMetadata, userMetadata, confirmationToken: token }
  await Promise.all([insertUser(run, user, settings, wanted), ensureEmailIdentity(run, id, userMetadata, wanted)])
}
