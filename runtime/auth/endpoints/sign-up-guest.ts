import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import { savingUser } from '../accounts/accounts.ts'
import { type Call, type Outcome, checkNewMetadata } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { startSession, type StartedSession, sessionOutcome } from '../accounts/sign-in.ts'
import { audit } from '../store/audit-log.ts'
import { insertUser } from '../store/users.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'

export async function guestSignUp(call: Call<typeof io.signUp>, tools: AuthTools): Promise<Outcome> {
  if (!call.settings.anonymous_enabled) throw refuse('anonymous_provider_disabled')
  if (call.settings.disable_signup) throw refuse('signup_disabled')
  const data = call.body.data ?? {}
  checkNewMetadata(data, {})
  await tools.throttle.takeGuest(call.client.source, call.settings)
  const started = await savingUser(() => tools.database.together((run) => createGuest(run, tools, call, data)))
  return sessionOutcome(tools, call, started)
}

async function createGuest(run: RunStatement, tools: AuthTools, call: Call, data: object): Promise<StartedSession> {
  const user = { id: randomUUID(), email: null }
  const guest = { ...user, passwordHash: null, appMetadata: {}, userMetadata: { ...data }, isAnonymous: true }
  const [, , started] = await Promise.all([
    insertUser(run, guest, call.settings),
    audit(run, { action: 'user_signedup', actor: user, address: call.client.address }),
    startSession(run, tools, call, user, 'anonymous'),
  ])
  return started
}
