import type { RunStatement } from '../../db/pool/statements.ts'
import type { Challenge } from '../rules/credentials.ts'
import { insertFlow } from '../store/flow-states.ts'
import type { AmrMethod } from '../protocol/records.ts'

export interface MailFlow {
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
