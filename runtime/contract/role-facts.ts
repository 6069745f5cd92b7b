import type { Grantee, Manifest, RoleFacts } from './manifest.ts'

/** What a role is that inherits nothing: it holds its own grants and those of everybody. */
export const plainRole = (role: Grantee): RoleFacts => ({ superuser: false, effective: [role, 'public'] })

/** What a role counts as: the compiler leaves plain roles out, and a role may have been created since. */
export const factsOf = ({ roles }: Pick<Manifest, 'roles'>, role: Grantee): RoleFacts =>
  (Object.hasOwn(roles, role) ? roles[role] : undefined) ?? plainRole(role)
