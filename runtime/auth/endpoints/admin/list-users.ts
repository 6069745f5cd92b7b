import { json, type AdminCall, type Outcome } from '../../call/call.ts'
import { refuse } from '../../protocol/errors.ts'
import { pathId, pageHeaders, readPage } from '../../protocol/input.ts'
import { userJson } from '../../rules/user-json.ts'
import { countUsers, findUserOrDeleted, readUserPage } from '../../store/admin-users.ts'
import type { AuthTools } from '../../accounts/tools.ts'
import type * as io from '../../io/admin.ts'
import { noSuchUser } from './target-user.ts'

/** GET /admin/users: newest first by default. */
export async function listUsers(
  { query, settings }: AdminCall<typeof io.listUsers>,
  { database }: AuthTools,
): Promise<Outcome> {
  const page = readPage(query)
  const { filter = '', sort = '' } = query
  const order = readOrder(sort)
  const total = await countUsers(database.run, filter)
  const offset = (page.page - 1) * page.perPage
  const users = await readUserPage(database.run, { filter, order, limit: page.perPage, offset })
  const headers = pageHeaders('/admin/users', page, total, { filter, sort })
  return json({ users: users.map(userJson), aud: settings.jwt_aud }, headers)
}

/** The one sort column, with its direction: `created_at asc`. */
function readOrder(sort: string): 'asc' | 'desc' {
  if (sort === '') return 'desc'
  const direction = /^created_at(?: (asc|desc))?$/i.exec(sort.trim())
  if (direction === null) throw refuse('validation_failed', 'Bad Sort Parameters: only created_at can be sorted by')
  return direction[1]?.toLowerCase() === 'asc' ? 'asc' : 'desc'
}

/** GET /admin/users/{id}: also a softly deleted user, who is in no list. */
export async function showUser({ params }: AdminCall, { database }: AuthTools): Promise<Outcome> {
  const user = await findUserOrDeleted(database.run, pathId(params, 'user_id'))
  if (user === null) throw noSuchUser()
  return json(userJson(user))
}
