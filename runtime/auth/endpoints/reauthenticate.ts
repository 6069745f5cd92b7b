import { json, type Outcome, type UserCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { mailVariables } from '../mails/variables.ts'
import { audit } from '../store/audit-log.ts'
import { putOneTimeToken } from '../store/one-time-tokens.ts'
import { lockUser } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'

/** GET /reauthenticate (spec/auth.md 5.3): mails a code that a change of password may need. */
export async function reauthenticate(call: UserCall, { mailer, oneTime }: AuthTools): Promise<Outcome> {
  const { user, settings, client } = call
  const email = user.email?.toLowerCase() ?? ''
  if (email === '') {
    throw refuse('validation_failed', 'Reauthentication requires the user to have an email or a phone number')
  }
  if (user.email_confirmed_at === null) {
    throw refuse('email_not_confirmed', { status: 422, message: 'Please verify your email first.' })
  }
  const issued = oneTime.issue('reauthentication', email, 'implicit')
  const facts = { issued, linkType: 'recovery', destination: settings.site_url, email, newEmail: '', data: {} } as const
  // A code without a link: the session exists already.
  const variables = { ...mailVariables(settings, facts), ConfirmationURL: '', TokenHash: '' }
  await mailer.withMail(settings, async (run, send) => {
    await lockUser(run, user.id)
    await putOneTimeToken(run, { userId: user.id, ...issued })
    await audit(run, { action: 'user_reauthenticate_requested', actor: user, address: client.address })
    send({ kind: 'reauthentication', recipient: email, variables })
  })
  return json({})
}
