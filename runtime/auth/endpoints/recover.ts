import {
  json,
  type Actor,
  type Call,
  type Outcome,
  destinationOf,
  checkedChallenge,
  checkedEmail,
  type Registration,
} from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { mailToken, type TokenMail } from '../mails/mail-token.ts'
import { steadyTokens } from '../secrets/one-time-tokens.ts'
import type { Challenge } from '../rules/credentials.ts'
import { audit } from '../store/audit-log.ts'
import { findUserByEmail, lockUser } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import type { UserRow } from '../protocol/records.ts'
import type { JsonObject } from '../../lib/json.ts'

/** POST /recover (spec/auth.md 4.9): the answer is the same for known and unknown addresses. */
export async function recover(call: Call<typeof io.recover>, { mailRequests, database }: AuthTools): Promise<Outcome> {
  const { email: address = '' } = call.body
  if (address === '') throw refuse('validation_failed', 'Password recovery requires an email')
  const email = checkedEmail(address)
  const input = { email, data: {}, challenge: checkedChallenge(call.body), destination: destinationOf(call) }
  await mailRequests.accept(call, database, { kind: 'recovery', input })
  return json({})
}

const recoveryMail = { kind: 'recovery', linkType: 'recovery', providerType: 'recovery', method: 'recovery' } as const

export async function recoverByMail(call: Actor, tools: AuthTools, input: Registration): Promise<void> {
  const { email, challenge, destination } = input
  const user = await findUserByEmail(tools.database.run, email)
  if (user !== null) await mailRecovery(call, tools, user, { challenge, destination, ...recoveryMail })
}

type RecoveryMail = Pick<TokenMail, 'kind' | 'linkType' | 'providerType' | 'method' | 'destination'> & {
  readonly challenge: Challenge | null
  readonly data?: JsonObject
}

/** Mails the content of the recovery slot: a reset or a magic link, each in place of the other (spec/auth.md 4.9). */
export async function mailRecovery(call: Actor, tools: AuthTools, user: UserRow, asked: RecoveryMail): Promise<void> {
  const address = user.email?.toLowerCase() ?? ''
  const parts = { settings: call.settings, oneTime: steadyTokens(tools.oneTime) }
  await tools.mailer.withMail(call.settings, async (run, send) => {
    if (!(await lockUser(run, user.id))) return
    await audit(run, { action: 'user_recovery_requested', actor: user, address: call.client.address })
    const data = asked.data ?? user.raw_user_meta_data ?? {}
    const mail = { ...asked, userId: user.id, slot: 'recovery', address, email: address, newEmail: '', data } as const
    await mailToken(run, send, parts, mail)
  })
}
