import type { RunStatement } from '../../db/pool/statements.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { putOneTimeToken, type TokenSlot } from '../store/one-time-tokens.ts'
import type { OneTimeTokens } from '../secrets/one-time-tokens.ts'
import type { MailKind } from './kinds.ts'
import type { SendMail } from './mailer.ts'
import { mailVariables, type MailFacts } from './variables.ts'
import type { Challenge } from '../rules/credentials.ts'
import type { ChangeMailbox } from '../rules/email.ts'
import { insertFlow } from '../store/flow-states.ts'
import type { AmrMethod, UserRow } from '../protocol/records.ts'

interface MailFlow {
  readonly userId: string
  /** Null: the mail belongs to no PKCE flow. */
  readonly challenge: Challenge | null
  readonly providerType: 'email' | 'magiclink' | 'recovery' | 'email_change'
  readonly method: AmrMethod
  readonly destination: string
}

export async function startMailFlow(run: RunStatement, flow: MailFlow): Promise<void> {
  const { userId, challenge, providerType, method, destination } = flow
  if (challenge === null) return
  await insertFlow(run, { userId, challenge, providerType, method, referrer: destination })
}

/** A mail with a code and a link for an existing account. */
export interface TokenMail extends MailFlow, Pick<MailFacts, 'linkType' | 'email' | 'newEmail' | 'data'> {
  readonly kind: MailKind
  readonly slot: TokenSlot
  readonly address: string
}

export interface MailingParts {
  readonly settings: AuthSettings
  /** Issues the same token again for the same mailbox: see steadyTokens. */
  readonly oneTime: Pick<OneTimeTokens, 'issue'>
}

/** Makes code and link, replaces those in the slot, and sends them. The user is locked. */
export async function mailToken(
  run: RunStatement,
  send: SendMail,
  { settings, oneTime }: MailingParts,
  mail: TokenMail,
): Promise<void> {
  const { userId, slot, address, kind, challenge } = mail
  const issued = oneTime.issue(slot, address, challenge === null ? 'implicit' : 'pkce')
  await putOneTimeToken(run, { userId, ...issued })
  await startMailFlow(run, mail)
  send({ kind, recipient: address, variables: mailVariables(settings, { issued, ...mail }) })
}

interface EmailChangeMails {
  /** With the new address in `email_change`. */
  readonly user: UserRow
  readonly slots: readonly ChangeMailbox[]
  readonly challenge: Challenge | null
  readonly destination: string
}

const kindOfMail = {
  kind: 'email_change',
  linkType: 'email_change',
  providerType: 'email_change',
  method: 'email_change',
} as const

/** One mail to each mailbox that must confirm, each with its own code and link (spec/auth.md 5.4). */
export async function mailEmailChange(
  run: RunStatement,
  send: SendMail,
  parts: MailingParts,
  { user, slots, challenge, destination }: EmailChangeMails,
): Promise<void> {
  const [email, newEmail] = [user.email?.toLowerCase() ?? '', user.email_change ?? '']
  const shared = { ...kindOfMail, userId: user.id, email, newEmail, challenge, destination }
  const data = user.raw_user_meta_data ?? {}
  for (const slot of slots) {
    const address = slot === 'email_change_new' ? newEmail : email
    await mailToken(run, send, parts, { ...shared, slot, address, data })
  }
}
