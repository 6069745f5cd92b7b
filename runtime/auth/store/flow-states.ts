import { randomUUID } from 'node:crypto'
import { statement, type RunStatement } from '../../db/statements.ts'
import type { Challenge } from '../rules/pkce.ts'
import type { AmrMethod } from '../types.ts'

/** auth.flow_state (section 6.2). */

const insert = statement<object>(
  'auth.flow-states.insert',
  `insert into auth.flow_state (id, user_id, auth_code, code_challenge_method, code_challenge, provider_type,
    authentication_method, referrer, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, now(), now())`,
)

export interface NewFlow {
  readonly userId: string | null
  readonly challenge: Challenge | null
  readonly providerType: string
  readonly method: AmrMethod
  /** Checked destination. */
  readonly referrer: string
}

/** Keeps a flow and gives its id, which doubles as OAuth `state`. */
export const insertFlow = async (run: RunStatement, flow: NewFlow): Promise<string> => {
  const id = randomUUID()
  const { method, challenge } = flow.challenge ?? { method: null, challenge: null }
  await run(insert, [id, flow.userId, randomUUID(), method, challenge, flow.providerType, flow.method, flow.referrer])
  return id
}
