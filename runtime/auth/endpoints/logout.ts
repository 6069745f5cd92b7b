import type { RunStatement } from '../../db/pool/statements.ts'
import { endPending } from '../accounts/accounts.ts'
import { noContent, type Outcome, type UserCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { audit } from '../store/audit-log.ts'
import { deleteFlowsOf } from '../store/flow-states.ts'
import { deleteOtherSessions, deleteSession, deleteSessionsOf } from '../store/sessions.ts'
import { lockUser } from '../store/users.ts'
import type { UserRow } from '../protocol/records.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'

type End = (run: RunStatement, call: UserCall) => Promise<void>

/** Flows in progress must not become a session. A guest can only return by a pending mail. */
const endUnderWay = (run: RunStatement, { id, email }: UserRow): Promise<void> =>
  (email ?? '') === '' ? deleteFlowsOf(run, id) : endPending(run, id)

/** The sessions that each scope ends (spec/auth.md 5.5). */
const scopes = new Map<string, End>([
  [
    'global',
    async (run, { user }) => void (await Promise.all([deleteSessionsOf(run, user.id), endUnderWay(run, user)])),
  ],
  ['local', async (run, { session }) => (session === null ? undefined : deleteSession(run, session.id))],
  ['others', (run, { user, session }) => deleteOtherSessions(run, user.id, session?.id ?? null)],
])

/**
 * POST /logout?scope=. The user is locked first, as in calls that raise a session and end the others: otherwise two
 * calls that each end several sessions of one user would deadlock.
 */
export async function logout(call: UserCall<typeof io.logout>, { database }: AuthTools): Promise<Outcome> {
  const scope = call.query.scope || 'global'
  const end = scopes.get(scope)
  if (end === undefined) throw refuse('validation_failed', `Unsupported logout scope "${scope}"`)
  await database.transaction((run) =>
    Promise.all([
      lockUser(run, call.user.id),
      end(run, call),
      audit(run, { action: 'logout', actor: call.user, address: call.client.address }),
    ]),
  )
  return noContent()
}
