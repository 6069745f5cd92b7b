import type { Grantee, Grantees, Manifest, RoleFacts } from './manifest.ts'

/** What a role is that inherits nothing: it holds its own grants and those of everybody. */
export const plainRole = (role: Grantee): RoleFacts => ({ superuser: false, effective: [role, 'public'] })

/** What a role counts as: the compiler leaves plain roles out, and a role may have been created since. */
export const factsOf = ({ roles }: Pick<Manifest, 'roles'>, role: Grantee): RoleFacts =>
  (Object.hasOwn(roles, role) ? roles[role] : undefined) ?? plainRole(role)

/**
 * What of that decides what the role sees: roles that hold nothing here say nothing, so that of thousands of roles with the
 * same privileges each has the same facts.
 */
export function decidingFacts(manifest: Pick<Manifest, 'roles' | 'holders'>, role: Grantee): RoleFacts {
  const { superuser, effective } = factsOf(manifest, role)
  return {
    superuser,
    effective: effective.filter((grantee) => grantee === 'public' || manifest.holders.includes(grantee)).toSorted(),
  }
}

/** Whether the role holds what these hold. */
const holds = ({ superuser, effective }: RoleFacts, grantees: Grantees): boolean =>
  superuser || grantees.some((grantee) => effective.includes(grantee))

/** What every request of the role is answered because a comment cannot be read (spec/graphql.md 13.1), or null. */
export function refusalOf(manifest: Pick<Manifest, 'roles' | 'refusal'>, role: string): string | null {
  if (manifest.refusal === null) return null
  const facts = factsOf(manifest, role)
  return manifest.refusal.find(({ usage }) => holds(facts, usage))?.message ?? null
}
