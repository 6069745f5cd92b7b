import type {
  ColumnGrants,
  Grantees,
  TableGrants,
  EntityFacts,
  Grantee,
  Manifest,
  RoleFacts,
  FunctionFacts,
  TypeFacts,
  TypeSchemaFacts,
} from '../../runtime/contract/manifest.ts'
import { grantees, rolePrivileges } from '../catalog/privileges.ts'
import type { CatalogGrant } from '../catalog/catalog.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import type { LiveFacts } from '../../runtime/contract/live.ts'
import type { Annotated } from '../comments/annotated.ts'
import { plainRole } from '../../runtime/contract/facts.ts'

/** The privileges of roles, object by object (spec/graphql.md 1.4), and their memberships. */

interface Granted {
  readonly grants: readonly CatalogGrant[]
}

export const tableGrants = (grants: readonly CatalogGrant[]): TableGrants => ({
  select: grantees(grants, 'SELECT', 'relation'),
  insert: grantees(grants, 'INSERT', 'relation'),
  update: grantees(grants, 'UPDATE', 'relation'),
  delete: grantees(grants, 'DELETE', 'relation'),
})

export const columnGrants = ({ grants }: Granted): ColumnGrants =>
  grants.length === 0 ? noColumnGrants : readColumnGrants(grants)

const readColumnGrants = (grants: readonly CatalogGrant[]): ColumnGrants => ({
  select: grantees(grants, 'SELECT', 'column'),
  insert: grantees(grants, 'INSERT', 'column'),
  update: grantees(grants, 'UPDATE', 'column'),
})

const noColumnGrants = readColumnGrants([])

export const schemaUsage = ({ grants }: Granted): Grantees => grantees(grants, 'USAGE', 'schema')

export const typeUsage = ({ grants }: Granted): Grantees => grantees(grants, 'USAGE', 'type')

export const execution = ({ grants }: Granted): Grantees => grantees(grants, 'EXECUTE', 'function')

type Roles = Manifest['roles']

type Served = Omit<Manifest, 'roles' | 'holders'>

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

type WithTypes = Pick<Manifest, 'entities' | 'functions' | 'composites' | 'extensions'>

/**
 * The unserved schemas with types of the API, and without USAGE for PUBLIC: a role without USAGE can print a column of
 * such a type, but cannot write its values (spec/graphql.md 1.4).
 */
export function* typeSchemaFacts(
  memo: Memo,
  { typeSchemas = [] }: Annotated,
  served: WithTypes,
): Steps<readonly TypeSchemaFacts[]> {
  const facts = typeSchemas.map((schema) => ({ name: schema.name, usage: schemaUsage(schema) }))
  const closed = facts.filter(({ usage }) => !usage.includes('public'))
  if (closed.length === 0) return []
  const named = yield* schemasNamed(memo, served)
  return closed.filter(({ name }) => named.has(name))
}

function* schemasNamed(
  memo: Memo,
  { entities, functions, composites = [], extensions = {} }: WithTypes,
): Steps<ReadonlySet<string>> {
  return new Set([
    ...memo.one(namesIn, yield* memo.map(ofEntity, entities)),
    ...Object.values(extensions),
    ...functions.flatMap(ofFunction),
    ...composites.flatMap(({ fields }) => fields.flatMap(ofType)),
  ])
}

const namesIn = (lists: readonly (readonly string[])[]): ReadonlySet<string> => new Set(lists.flat())

const ofEntity = ({ columns, computed }: EntityFacts): readonly string[] => [
  ...new Set([...columns.flatMap(ofType), ...computed.flatMap(ofFunction)]),
]

const ofFunction = ({ args, result }: FunctionFacts): readonly string[] => [
  ...args.flatMap(ofType),
  ...(result.kind === 'value' ? ofType(result) : []),
]

const ofType = ({ typeSchema, underSchema }: Omit<TypeFacts, 'type'>): readonly string[] =>
  [typeSchema, underSchema].flatMap((name) => name ?? [])
