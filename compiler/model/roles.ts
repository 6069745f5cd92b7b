import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { LiveFacts } from '../../runtime/contract/live.ts'
import type { EntityFacts, Grantee, Grantees, Manifest, RoleFacts } from '../../runtime/contract/manifest.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import type { Annotated } from '../comments/annotated.ts'
import { plainRole } from '../../runtime/contract/facts.ts'

type Roles = Manifest['roles']

type Served = Omit<Manifest, 'roles' | 'holders'>

/** The manifest's facts about roles. */
export function* rolesPart(memo: Memo, roles: Roles, served: Served): Steps<Pick<Manifest, 'roles' | 'holders'>> {
  const holders = memo.one(listed, ...(yield* holdersOf(memo, served)))
  return memo.one(factsOfRoles, roles, holders)
}

/** The same list while its content is the same. */
const listed = (...holders: readonly Grantee[]): readonly Grantee[] => holders.toSorted()

const factsOfRoles = (roles: Roles, holders: readonly Grantee[]): Pick<Manifest, 'roles' | 'holders'> => ({
  // A comment may name a missing role, for which membership cannot be queried.
  holders: holders.filter((grantee) => grantee !== 'public' && Object.hasOwn(roles, grantee)),
  roles: neededRoles(roles, new Set(holders)),
})

/** The effective grantees of each role of the server. */
export const privilegesByRole = (
  memo: Memo,
  { serverVersion, databaseOwner, roles, memberships }: Annotated,
): Readonly<Record<string, RoleFacts>> => memo.one(privilegesIn, serverVersion, databaseOwner, roles, memberships)

const privilegesIn = (
  serverVersion: number,
  databaseOwner: string,
  roles: Annotated['roles'],
  memberships: Annotated['memberships'],
): Readonly<Record<string, RoleFacts>> => rolePrivileges({ serverVersion, databaseOwner, roles, memberships })

/**
 * The roles of a manifest (spec/graphql.md 1.4): superusers, and those that inherit from a role with a privilege here.
 * All others are left out, so that unrelated roles of a server do not make another revision.
 */
function neededRoles(roles: Roles, holders: ReadonlySet<Grantee>): Roles {
  const kept = Object.entries(roles).flatMap(([role, facts]) => {
    const needed = neededFacts(role, facts, holders)
    return needed === null ? [] : [[role, needed] as const]
  })
  // fromEntries makes own properties also of names such as __proto__.
  return Object.fromEntries(kept)
}

/** The relevant facts of a role; null if they equal those of a plain role. */
function neededFacts(role: Grantee, facts: RoleFacts, holders: ReadonlySet<Grantee>): RoleFacts | null {
  if (facts.superuser) return { ...plainRole(role), superuser: true }
  const own = plainRole(role).effective
  const effective = facts.effective.filter((grantee) => own.includes(grantee) || holders.has(grantee))
  return effective.every((grantee) => own.includes(grantee)) ? null : { superuser: false, effective }
}

/** All roles with a privilege. */
function* holdersOf(
  memo: Memo,
  { schemas, typeSchemas = [], refusal, enums, entities, functions }: Served,
): Steps<ReadonlySet<Grantee>> {
  return new Set([
    ...[...schemas, ...typeSchemas, ...(refusal ?? []), ...enums].flatMap(({ usage }) => usage),
    ...functions.flatMap(({ execute, live }) => [...execute, ...liveHolders(live)]),
    ...memo.one(allHolders, yield* memo.map(entityHolders, entities, memo)),
  ])
}

const allHolders = (holders: readonly string[]): ReadonlySet<Grantee> =>
  new Set([...new Set(holders)].flatMap((grantees) => JSON.parse(grantees) as Grantees))

/** As JSON: equal holders are equal values, and most of thousands of entities have the same. */
function entityHolders(
  { grants, columns, computed, live, access = [], sentDefaults = [] }: EntityFacts,
  memo: Memo,
): string {
  const ofParts = [
    ...columns.flatMap((column) => Object.values(column.grants).flat()),
    ...computed.flatMap((fn) => [...fn.execute, ...liveHolders(fn.live)]),
    ...liveHolders(live),
    ...access.map(({ role }) => role),
    ...sentDefaults.flat(),
  ]
  const ofTable = memo.of(holdersText, grants)
  return ofParts.length === 0
    ? ofTable
    : JSON.stringify([...new Set([...(JSON.parse(ofTable) as Grantees), ...ofParts])])
}

/** The roles that may see the names in the reasons of a live refusal. */
const liveHolders = (live: LiveFacts | undefined): Grantees => {
  const reasons = live === undefined ? [] : 'refused' in live ? live.refused : (live.awaited ?? [])
  return reasons.flatMap(({ usage, rights }) => [...usage, ...rights])
}

const holdersText = (grants: EntityFacts['grants']): string =>
  JSON.stringify([...new Set(Object.values(grants).flat())])
