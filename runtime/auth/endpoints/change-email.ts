import type { RunStatement } from '../../db/pool/statements.ts'
import { finishEmailChange } from '../accounts/accounts.ts'
import { type UserCall, destinationOf, checkedChallenge } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { mailEmailChange, type MailingParts } from '../mails/mail-token.ts'
import type * as io from '../io/user.ts'
import { mailboxesOf } from '../rules/email.ts'
import type { SendMail } from '../mails/mailer.ts'
import { beginChange } from '../store/email-changes.ts'
import { clearOneTimeToken } from '../store/one-time-tokens.ts'
import { findUserById } from '../store/users.ts'

/** The part of PUT /user for a new address, inside its transaction; the user is locked (spec/auth.md 5.4). */
export async function changeEmail(
  run: RunStatement,
  send: SendMail,
  call: UserCall<typeof io.updateUser>,
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
