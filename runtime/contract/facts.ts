import type { ObjectId, ValueType, Grantee, Grantees, Manifest, RoleFacts } from './manifest.ts'

/** Identity of a database object across the artifacts: unambiguous for any pair of names. */
export const objectId = (schema: string, name: string): ObjectId => JSON.stringify([schema, name])

/** The key by which lists of objects become tables. */
export const idOf = ({ id }: { readonly id: ObjectId }): ObjectId => id

export function namesOf(id: ObjectId): { readonly schema: string; readonly name: string } {
  const [schema, name] = JSON.parse(id) as readonly [string, string]
  return { schema, name }
}

/** The form in which values are compared; undefined if their scalar decides. */
export const formOf = (type: ValueType | null): string | undefined => (type?.kind === 'scalar' ? type.form : undefined)

/** The facts of a role without memberships: it has its own grants and those of PUBLIC. */
export const plainRole = (role: Grantee): RoleFacts => ({ superuser: false, effective: [role, 'public'] })

/** The facts of a role: the compiler leaves plain roles out, and a role may be newer. */
export const factsOf = ({ roles }: Pick<Manifest, 'roles'>, role: Grantee): RoleFacts =>
  (Object.hasOwn(roles, role) ? roles[role] : undefined) ?? plainRole(role)

/**
 * The facts that decide what the role sees: memberships without privileges here are dropped, so that roles with equal
 * privileges have equal facts.
 */
export function decidingFacts(manifest: Pick<Manifest, 'roles' | 'holders'>, role: Grantee): RoleFacts {
  const { superuser, effective } = factsOf(manifest, role)
  return {
    superuser,
    effective: effective.filter((grantee) => grantee === 'public' || manifest.holders.includes(grantee)).toSorted(),
  }
}

/** Whether the role has a privilege with these holders. */
const holds = ({ superuser, effective }: RoleFacts, grantees: Grantees): boolean =>
  superuser || grantees.some((grantee) => effective.includes(grantee))

/** The answer to every request of the role if a comment cannot be read (spec/graphql.md 13.1), or null. */
export function refusalOf(manifest: Pick<Manifest, 'roles' | 'refusal'>, role: string): string | null {
  if (manifest.refusal === null) return null
  const facts = factsOf(manifest, role)
  return manifest.refusal.find(({ usage }) => holds(facts, usage))?.message ?? null
}
