import { json, type Call, type Outcome } from '../call.ts'
import { destinationOf } from '../destination.ts'
import { checkedChallenge, checkedEmail } from '../email-input.ts'
import { refuse } from '../errors.ts'
import { textOf } from '../input.ts'
import { mailToken, type TokenMail } from '../mails/mail-token.ts'
import type { Challenge } from '../rules/pkce.ts'
import { audit } from '../store/audit-log.ts'
import { findUserByEmail, lockUser } from '../store/users.ts'
import type { AuthTools } from '../tools.ts'
import type { JsonObject, UserRow } from '../types.ts'

/** POST /recover (section 4.9): the answer is the same whoever the address belongs to. */
export async function recover(call: Call, tools: AuthTools): Promise<Outcome> {
  const address = textOf(call.body, 'email')
  if (address === '') throw refuse('validation_failed', 'Password recovery requires an email')
  const email = checkedEmail(address)
  const asked = { challenge: checkedChallenge(call.body), destination: destinationOf(call) }
  const user = await findUserByEmail(tools.database.run, email)
  if (user === null) await tools.mailer.pretend(call.settings, 'recovery', email)
  else await mailRecovery(call, tools, user, { ...asked, ...recoveryMail })
  return json({})
}

const recoveryMail = { kind: 'recovery', linkType: 'recovery', providerType: 'recovery', method: 'recovery' } as const

type Asked = Pick<TokenMail, 'kind' | 'linkType' | 'providerType' | 'method' | 'destination'> & {
  readonly challenge: Challenge | null
  readonly data?: JsonObject
}

/** Mails what the recovery slot holds: a reset or a magic link, each in place of the other (section 4.9). */
export async function mailRecovery(call: Call, tools: AuthTools, user: UserRow, asked: Asked): Promise<void> {
  const address = user.email?.toLowerCase() ?? ''
  await tools.mailer.withMail(call.settings, async (run, send) => {
    if (!(await lockUser(run, user.id))) return
    await audit(run, { action: 'user_recovery_requested', actor: user, address: call.client.address })
    const parts = { settings: call.settings, oneTime: tools.oneTime }
    const data = asked.data ?? user.raw_user_meta_data ?? {}
    const mail = { ...asked, userId: user.id, slot: 'recovery', address, email: address, newEmail: '', data } as const
    await mailToken(run, send, parts, mail)
  })
}
