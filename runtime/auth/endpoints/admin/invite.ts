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
import { awaitConfirmation } from './invited-account.ts'
import { auditAdmin, existingUser } from './target-user.ts'

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
