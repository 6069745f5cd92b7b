import type { Grantee, Grantees, RoleFacts } from '../../runtime/contract/manifest.ts'
import { compareBytes } from '../../runtime/lib/text.ts'
import type { Catalog, CatalogGrant } from './catalog.ts'

/**
 * Privileges by the rules of Postgres (its acl.c and aclchk.c): a role has a privilege if it is a superuser, or if one
 * of its effective grantees is in `grantees`.
 */

export type PrivilegeKind = 'relation' | 'column' | 'schema' | 'function' | 'type'

/** PostgreSQL manual, chapter "Predefined Roles": their privileges without a grant. */
const PREDEFINED: Readonly<Record<PrivilegeKind, Readonly<Record<string, readonly Grantee[]>>>> = {
  relation: {
    SELECT: ['pg_read_all_data'],
    INSERT: ['pg_write_all_data'],
    UPDATE: ['pg_write_all_data'],
    DELETE: ['pg_write_all_data'],
  },
  column: {},
  schema: { USAGE: ['pg_read_all_data', 'pg_write_all_data'] },
  function: {},
  type: {},
}

/** Sorted holders of a privilege. A grant on a column adds to the grants on its relation. */
export const grantees = (grants: readonly CatalogGrant[], privilege: string, kind: PrivilegeKind): Grantees => {
  const granted = grants.filter((grant) => grant.privileges.includes(privilege)).map((grant) => grant.grantee)
  return withPredefined(granted, privilege, kind)
}

/** With the predefined roles that have the privilege without a grant. */
export const withPredefined = (granted: readonly Grantee[], privilege: string, kind: PrivilegeKind): Grantees =>
  sorted([...granted, ...(PREDEFINED[kind][privilege] ?? [])])

const sorted = (names: Iterable<Grantee>): Grantees => [...new Set(names)].sort(compareBytes)

type Memberships = Pick<Catalog, 'serverVersion' | 'databaseOwner' | 'roles' | 'memberships'>

/** Every role with its effective grantees: itself, `public`, and every role whose privileges it inherits. */
export function rolePrivileges(catalog: Memberships): Readonly<Record<string, RoleFacts>> {
  const groups = inheritedGroups(catalog)
  // fromEntries makes own properties also of names such as __proto__.
  return Object.fromEntries(
    catalog.roles.map((role) => [
      role.name,
      { superuser: role.superuser, effective: sorted(['public', ...reachedRoles(role.name, groups)]) },
    ]),
  )
}

type Groups = ReadonlyMap<string, readonly string[]>

function inheritedGroups(catalog: Memberships): Groups {
  const groups = new Map<string, string[]>()
  for (const { member, group, inherits } of catalog.memberships) {
    if (inherits) groups.set(member, [...(groups.get(member) ?? []), group])
  }
  const owner = catalog.databaseOwner
  if (ownerInherits(catalog)) groups.set(owner, [...(groups.get(owner) ?? []), 'pg_database_owner'])
  return groups
}

/** The database's owner is an implicit member of pg_database_owner; before 16 a NOINHERIT role inherits nothing. */
const ownerInherits = (catalog: Memberships): boolean =>
  catalog.serverVersion >= 160000 || catalog.roles.some((role) => role.name === catalog.databaseOwner && role.inherit)

function reachedRoles(role: string, groups: Groups): ReadonlySet<string> {
  const seen = new Set([role])
  // A Set's iterator also visits items that are added during the iteration.
  for (const name of seen) for (const group of groups.get(name) ?? []) seen.add(group)
  return seen
}
