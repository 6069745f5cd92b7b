import { createUser } from './endpoints/admin/create-user.ts'
import { deleteUser } from './endpoints/admin/delete-user.ts'
import { listFactorsOf, removeFactorOf, renameFactorOf } from './endpoints/admin/factors.ts'
import { generateLink } from './endpoints/admin/generate-link.ts'
import { invite } from './endpoints/admin/invite.ts'
import { listAudit } from './endpoints/admin/list-audit.ts'
import { listUsers, showUser } from './endpoints/admin/list-users.ts'
import { updateUserAsAdmin } from './endpoints/admin/update-user.ts'
import type { Route } from './route.ts'

const admin = { guard: 'admin', assurance: 'none', limit: 'none', counted: false, body: 'none' } as const
const write = { ...admin, body: 'json' } as const
const user = '/admin/users/:user_id'
const factor = `${user}/factors/:factor_id` as const

/** What an administrator's token may do (section 11). */
export const adminRoutes: readonly Route[] = [
  { at: 'POST /invite', ...write, handle: invite },
  { at: 'GET /admin/users', ...admin, handle: listUsers },
  { at: 'POST /admin/users', ...write, handle: createUser },
  { at: `GET ${user}`, ...admin, handle: showUser },
  { at: `PUT ${user}`, ...write, handle: updateUserAsAdmin },
  { at: `DELETE ${user}`, ...write, handle: deleteUser },
  { at: `GET ${user}/factors`, ...admin, handle: listFactorsOf },
  { at: `PUT ${factor}`, ...write, handle: renameFactorOf },
  { at: `DELETE ${factor}`, ...admin, handle: removeFactorOf },
  { at: 'POST /admin/generate_link', ...write, handle: generateLink },
  { at: 'GET /admin/audit', ...admin, handle: listAudit },
]
