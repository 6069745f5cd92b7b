import { createUser, updateUserAsAdmin, deleteUser, listUsers, showUser } from '../endpoints/admin/users.ts'
import { listFactorsOf, removeFactorOf, renameFactorOf } from '../endpoints/admin/factors.ts'
import { generateLink } from '../endpoints/admin/generate-link.ts'
import { invite } from '../endpoints/admin/invite.ts'
import { listAudit, listAuditOf } from '../endpoints/admin/list-audit.ts'
import * as io from '../io/admin.ts'
import { route, type Route } from './route.ts'

const admin = { guard: 'admin', assurance: 'none', limit: 'none', counted: false } as const
const user = '/admin/users/:user_id'
const factor = `${user}/factors/:factor_id` as const

/** The endpoints for an administrator's token (spec/auth.md 11). */
export const adminRoutes: readonly Route[] = [
  route({ at: 'POST /invite', ...admin, io: io.invite, handle: invite }),
  route({ at: 'GET /admin/users', ...admin, io: io.listUsers, handle: listUsers }),
  route({ at: 'POST /admin/users', ...admin, io: io.createUser, handle: createUser }),
  route({ at: `GET ${user}`, ...admin, io: io.showUser, handle: showUser }),
  route({ at: `PUT ${user}`, ...admin, io: io.updateUser, handle: updateUserAsAdmin }),
  route({ at: `DELETE ${user}`, ...admin, io: io.deleteUser, handle: deleteUser }),
  route({ at: `GET ${user}/factors`, ...admin, io: io.listFactors, handle: listFactorsOf }),
  route({ at: `PUT ${factor}`, ...admin, io: io.renameFactor, handle: renameFactorOf }),
  route({ at: `DELETE ${factor}`, ...admin, io: io.removeFactor, handle: removeFactorOf }),
  route({ at: `GET ${user}/audit`, ...admin, io: io.listAuditOf, handle: listAuditOf }),
  route({ at: 'POST /admin/generate_link', ...admin, io: io.generateLink, handle: generateLink }),
  route({ at: 'GET /admin/audit', ...admin, io: io.listAudit, handle: listAudit }),
]
