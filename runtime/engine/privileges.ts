import type { RolePrivileges } from '../contract/execution.ts'
import { factsOf } from '../contract/facts.ts'
import type { Manifest } from '../contract/manifest.ts'
import { createLru } from '../lib/caches.ts'

/** Some hundred bytes each; the check compares them by identity (db/check/check.ts). */
const keptPrivileges = 10_000

/** The privileges of each role in a manifest. The same role has the same object while it is kept. */
export function createPrivileges(manifest: Manifest): (role: string) => RolePrivileges {
  const byRole = createLru<string, RolePrivileges>(keptPrivileges)
  return (role) => {
    const known = byRole.get(role)
    if (known !== undefined) return known
    const privileges = privilegesOf(manifest, role)
    byRole.set(role, privileges)
    return privileges
  }
}

function privilegesOf(manifest: Manifest, role: string): RolePrivileges {
  const { superuser, effective } = factsOf(manifest, role)
  const { distributed, holders } = manifest
  return {
    role,
    superuser,
    ...(distributed !== undefined && { bypassRls: distributed.bypassing.includes(role) }),
    holders,
    held: new Set(superuser ? holders : holders.filter((holder) => effective.includes(holder))),
  }
}
