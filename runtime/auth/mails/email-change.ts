import type { RunStatement } from '../../db/pool/statements.ts'
import type { Challenge } from '../rules/pkce.ts'
import type { ChangeMailbox } from '../rules/email-change.ts'
import type { UserRow } from '../protocol/records.ts'
import type { SendMail } from './mailer.ts'
import { mailToken, type MailingParts } from './mail-token.ts'

export interface EmailChangeMails {
  /** With the new address in `email_change`. */
  readonly user: UserRow
  /** The mailboxes that must confirm. */
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
