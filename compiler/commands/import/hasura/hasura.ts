import type { Catalog, CatalogFunction } from '../../../catalog/catalog.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { isJsonObject } from '../../../../runtime/lib/json.ts'
import { bySchemaAndName } from '../../../../runtime/lib/text.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { mergeWishes, type Wish } from '../../advise/annotate/comments.ts'
import { misuse } from '../../command.ts'
import { commentStatements, schemaComment } from '../comment-statements.ts'
import {
  memberObject,
  memberObjects,
  memberList,
  memberText,
  type Imported,
  type ImportedStatement,
} from '../imported.ts'
import type { HasuraMetadata } from './metadata.ts'
import { functionWish, namingOf } from './naming.ts'
import {
  functionSql,
  permissionsOf,
  permissionSql,
  type CarriedPermission,
  type Permission,
  type Present,
} from './permissions.ts'
import { createWorld, qualifiedName, textOfName, type World } from './tables.ts'

/** Callers without a token have the role anon here, and signed-in users authenticated. */
const usualRoles: Readonly<Record<string, string>> = {
  anonymous: 'anon',
  public: 'anon',
  unauthenticated: 'anon',
  user: 'authenticated',
}

/** @throws CommandFailure if two roles would be one */
export function roleMapping(
  metadata: HasuraMetadata,
  given: Readonly<Record<string, string>>,
): (role: string) => string {
  const names = { ...usualRoles, ...given }
  const roleOf = (role: string): string => (Object.hasOwn(names, role) ? (names[role] ?? role) : role)
  const taken = new Map<string, string>()
  for (const role of rolesOf(metadata)) {
    const other = taken.get(roleOf(role))
    if (other !== undefined)
      throw misuse(
        `the roles ${other} and ${role} of the metadata would both be ${roleOf(role)}: name one with --role ${role}=NAME`,
      )
    taken.set(roleOf(role), role)
  }
  return roleOf
}

const commands = ['select', 'insert', 'update', 'delete']

const rolesOf = ({ source }: HasuraMetadata): readonly string[] =>
  [
    ...new Set(
      source.tables.flatMap((table) =>
        commands.flatMap((command) =>
          memberObjects(table, `${command}_permissions`).flatMap((one) => memberText(one, 'role') ?? []),
        ),
      ),
    ),
  ].toSorted()

/** Policies bind no role that bypasses them. @throws CommandFailure if a role of the metadata would be one */
export function demandBound(metadata: HasuraMetadata, catalog: Catalog, roleOf: (role: string) => string): void {
  const free = new Set([
    ...catalog.roles.filter(({ superuser, bypassRls }) => superuser || bypassRls).map(({ name }) => name),
    ...catalog.relations.map(({ owner }) => owner),
  ])
  const role = rolesOf(metadata).find((one) => free.has(roleOf(one)))
  if (role !== undefined)
    throw misuse(
      `the role ${role} of the metadata would be ${roleOf(role)}, which owns tables or bypasses row-level security here: name another with --role ${role}=NAME`,
    )
}

/** Schemas of the tracked tables. */
export const schemasOf = ({ source }: HasuraMetadata): readonly string[] => [
  ...new Set(source.tables.map((table) => qualifiedName(table['table']).schema)),
]

interface ForeignPolicy {
  readonly schema: string
  readonly table: string
  readonly policy: string
  readonly roles: readonly string[]
}

export interface Facts extends Present {
  readonly policyList: readonly ForeignPolicy[]
}

const policiesSql = `select n.nspname::text as schema, c.relname::text as "table", p.polname::text as policy,
    array(select case r when 0 then 'public' else pg_catalog.pg_get_userbyid(r)::text end from pg_catalog.unnest(p.polroles) r) as roles
  from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where p.polpermissive and n.nspname::text = any ($1)`

const sequencesSql = `select n.nspname || '.' || c.relname as "table", s.oid::pg_catalog.regclass::text as sequence
  from pg_catalog.pg_depend d join pg_catalog.pg_class s on s.oid = d.objid and s.relkind = 'S'
    join pg_catalog.pg_class c on c.oid = d.refobjid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refclassid = d.classid and d.deptype = 'a'
    and n.nspname::text = any ($1) order by 1, 2`

/** Facts that the catalogue lacks. The search path is pg_catalog, so that names come with their schemas. */
export async function readFacts(query: Query, schemas: readonly string[]): Promise<Facts> {
  const roles = (await query<{ readonly name: string }>('select rolname::text as name from pg_catalog.pg_roles')).rows
  const policyList = (await query<ForeignPolicy>(policiesSql, [schemas])).rows
  const owned = (await query<{ readonly table: string; readonly sequence: string }>(sequencesSql, [schemas])).rows
  const sequences = new Map<string, string[]>()
  for (const { table, sequence } of owned) sequences.set(table, [...(sequences.get(table) ?? []), sequence])
  return {
    roles: new Set(roles.map(({ name }) => name)),
    policies: new Set(policyList.map(({ schema, table, policy }) => JSON.stringify([schema, table, policy]))),
    policyList,
    sequences,
  }
}

export interface HasuraInput {
  readonly metadata: HasuraMetadata
  readonly catalog: Catalog
  readonly facts: Facts
  readonly roleOf: (role: string) => string
  /** The role that requests log in as. */
  readonly login: string
}

const admin = 'service_role'

const plainly = (sql: string): ImportedStatement => ({ remarks: [], sql })

function roleStatements(
  roles: readonly string[],
  schemas: readonly string[],
  { facts, login }: HasuraInput,
): readonly ImportedStatement[] {
  const created = roles.filter((role) => !facts.roles.has(role))
  return [
    ...created.flatMap((role) => [
      plainly(`create role ${ident(role)} nologin`),
      ...(role === login ? [] : [plainly(`grant ${ident(role)} to ${ident(login)}`)]),
    ]),
    ...schemas.map((schema) => plainly(`grant usage on schema ${ident(schema)} to ${roles.map(ident).join(', ')}`)),
  ]
}

/** Privileges that the roles have on the tables already, so that they have those of the metadata and no others. */
function revokeStatements(world: World, roles: readonly string[]): readonly ImportedStatement[] {
  return [...world.tables.values()].flatMap(({ schema, name, relation }) => {
    const grants = [...relation.grants, ...relation.columns.flatMap((column) => column.grants)]
    const holders = roles.filter((role) => grants.some(({ grantee }) => grantee === role))
    return holders.length === 0
      ? []
      : [plainly(`revoke all on ${qualified(schema, name)} from ${holders.map(ident).join(', ')}`)]
  })
}

/** The admin of Hasura is the holder of its secret; here, of the key of service_role. */
function adminStatements(world: World, { roles, sequences }: Facts): readonly ImportedStatement[] {
  const tables = [...world.tables.values()].toSorted(bySchemaAndName)
  if (tables.length === 0 || !roles.has(admin)) return []
  const schemas = [...new Set(tables.map(({ schema }) => ident(schema)))].join(', ')
  const owned = tables.flatMap((table) => sequences.get(textOfName(table)) ?? [])
  return [
    { remarks: ['The admin of Hasura.'], sql: `grant usage on schema ${schemas} to ${admin}` },
    plainly(`grant all on ${tables.map(({ schema, name }) => qualified(schema, name)).join(', ')} to ${admin}`),
    ...(owned.length === 0 ? [] : [plainly(`grant usage on sequence ${owned.join(', ')} to ${admin}`)]),
  ]
}

const tableStatements = (world: World, carried: readonly CarriedPermission[]): readonly ImportedStatement[] =>
  [...world.tables.values()].flatMap((table) => {
    const own = carried.filter(({ permission }) => permission.table === table)
    const { kind, rowSecurity } = table.relation
    const needs = own.length > 0 && (kind === 'r' || kind === 'p') && !rowSecurity
    const enable = { remarks: [], sql: `alter table ${qualified(table.schema, table.name)} enable row level security` }
    return [...(needs ? [enable] : []), ...own.flatMap(({ statements }) => statements)]
  })

const signature = ({ schema, name, args }: CatalogFunction): string =>
  `${qualified(schema, name)}(${args.map(({ typeText }) => typeText).join(', ')})`

interface FunctionPart {
  readonly statements: readonly ImportedStatement[]
  readonly wishes: readonly Wish[]
  readonly left: readonly string[]
}

/** Tracked functions: those that only read are for the roles that read their table, others for the roles that are named. */
function functionParts(
  { metadata, catalog, facts, roleOf }: HasuraInput,
  carried: readonly CarriedPermission[],
): FunctionPart {
  const parts = metadata.source.functions.map((one): FunctionPart => {
    const name = qualifiedName(one['function'])
    const [fn] = catalog.functions.filter((known) => known.schema === name.schema && known.name === name.name)
    const leave = (why: string): FunctionPart => ({
      statements: [],
      wishes: [],
      left: [`function ${textOfName(name)}: ${why}`],
    })
    if (fn === undefined) return leave('the database does not have it')
    const configuration = memberObject(one, 'configuration')
    if (memberText(configuration, 'session_argument') !== null)
      return leave('its session argument has no value; read request.jwt.claims in it')
    const named = memberObjects(one, 'permissions').flatMap((permission) => memberText(permission, 'role') ?? [])
    const readers = carried.flatMap(({ permission: { command, role, table } }) =>
      command === 'select' && fn.volatility !== 'v' && table.relation.rowType === fn.result ? [role] : [],
    )
    const roles = [...new Set([...[...named, ...readers].map(roleOf), ...(facts.roles.has(admin) ? [admin] : [])])]
    return {
      statements: [
        plainly(`revoke execute on function ${signature(fn)} from public`),
        ...(roles.length === 0
          ? []
          : [plainly(`grant execute on function ${signature(fn)} to ${roles.map(ident).join(', ')}`)]),
      ],
      wishes: functionWish(fn, memberText(configuration, 'custom_name')),
      left: [],
    }
  })
  return {
    statements: parts.flatMap(({ statements }) => statements),
    wishes: parts.flatMap(({ wishes }) => wishes),
    left: parts.flatMap(({ left }) => left),
  }
}

function computedParts(
  world: World,
  catalog: Catalog,
): { readonly wishes: readonly Wish[]; readonly left: readonly string[] } {
  const [wishes, left] = [[] as Wish[], [] as string[]]
  for (const table of world.tables.values())
    for (const one of memberObjects(table.metadata, 'computed_fields')) {
      const definition = memberObject(one, 'definition')
      const name = qualifiedName(definition['function'])
      const fn = catalog.functions.find(
        (known) =>
          known.schema === name.schema && known.name === name.name && known.args[0]?.type === table.relation.rowType,
      )
      const field = memberText(one, 'name') ?? ''
      const leave = (why: string): number => left.push(`computed field ${textOfName(table)}.${field}: ${why}`)
      if (memberText(definition, 'session_argument') !== null)
        leave('its session argument has no value; read request.jwt.claims in it')
      else if (fn === undefined) leave(`${textOfName(name)} is no function with the row as its first argument`)
      else wishes.push(...functionWish(fn, field))
    }
  return { wishes, left }
}

/** Roles that have the permissions of others. Hasura nulls cells that only one of them may read; a grant cannot. */
function inheritedParts({ metadata, roleOf, login, facts }: HasuraInput, permissions: readonly Permission[]) {
  const [statements, left] = [[] as ImportedStatement[], [] as string[]]
  for (const one of memberList(metadata.rest, 'inherited_roles').filter(isJsonObject)) {
    const [role, set] = [memberText(one, 'role_name') ?? '', memberList(one, 'role_set').map(String)]
    const differing = permissions.filter(
      ({ role: owner, command, table, rule }) =>
        set.includes(owner) &&
        permissions.some(
          (other) =>
            set.includes(other.role) &&
            other.table === table &&
            other.command === command &&
            JSON.stringify(other.rule['columns']) !== JSON.stringify(rule['columns']),
        ),
    )
    const [first] = differing
    if (first !== undefined)
      left.push(
        `inherited role ${role} of ${set.join(', ')}: their columns of ${textOfName(first.table)} differ, and would be readable in all of their rows`,
      )
    else {
      const name = roleOf(role)
      if (!facts.roles.has(name))
        statements.push(
          plainly(`create role ${ident(name)} nologin`),
          plainly(`grant ${ident(name)} to ${ident(login)}`),
        )
      statements.push(plainly(`grant ${set.map((member) => ident(roleOf(member))).join(', ')} to ${ident(name)}`))
    }
  }
  return { statements, left }
}

/** Parts of the metadata that have no place here, with what is there instead. */
const elsewhere: Readonly<Record<string, string>> = {
  actions: 'write a function of Postgres, or call your own server beside it',
  custom_types: 'they belong to actions',
  remote_schemas: 'only the database is served; put a gateway in front',
  cron_triggers: 'use pg_cron or a job of your own',
  query_collections: 'their documents ask for the fields of Hasura; write them again for an allow-list',
  allowlist: 'see docs/additions.md, allowlist, once the documents are written again',
  allow_list: 'see docs/additions.md, allowlist, once the documents are written again',
  rest_endpoints: 'there is no REST; send the documents by hash',
  api_limits: 'see docs/additions.md, limits',
  opentelemetry: 'see docs/operate.md',
}

const entryName = (value: unknown): string =>
  memberText(value, 'name') ?? memberText(value, 'collection') ?? memberText(value, 'role_name') ?? ''

const restLines = ({ rest, others }: HasuraMetadata): readonly string[] => [
  ...others.map((name) => `source ${name}: import one source at a time, by --source; a service has one database`),
  ...Object.entries(elsewhere).flatMap(([member, why]) => {
    const value = rest[member]
    const items = Array.isArray(value)
      ? value
      : isJsonObject(value)
        ? Object.values(value).flat().filter(isJsonObject)
        : []
    if (items.length === 0) return []
    const names = items.map(entryName).filter((name) => name !== '')
    return [`${member} (${items.length})${names.length === 0 ? '' : ` ${names.join(', ')}`}: ${why}`]
  }),
]

/** Objects that give rows or fields beyond the metadata. */
function wideningLines(
  { catalog, facts, metadata }: HasuraInput,
  world: World,
  roles: readonly string[],
): readonly string[] {
  const policies = facts.policyList.flatMap(({ schema, table, policy, roles: to }) =>
    world.tables.has(`${schema}.${table}`) &&
    !policy.startsWith('hasura ') &&
    to.some((role) => role === 'public' || roles.includes(role))
      ? [`policy ${policy} of ${schema}.${table} is there already, and gives rows beside those of the permissions`]
      : [],
  )
  const isPublic = ({ grants }: { readonly grants: readonly { readonly grantee: string }[] }): boolean =>
    grants.some(({ grantee }) => grantee === 'public')
  const tables = [...world.tables.values()].flatMap(({ relation }) =>
    isPublic(relation) || relation.columns.some(isPublic)
      ? [`table ${textOfName(relation)}: PUBLIC has privileges on it; revoke them`]
      : [],
  )
  const members = new Set((catalog.members ?? []).map(({ oid }) => oid))
  const tracked = new Set([
    ...metadata.source.functions.map((one) => textOfName(qualifiedName(one['function']))),
    ...[...world.tables.values()].flatMap(({ computed }) => [...computed.values()].map(textOfName)),
  ])
  const untracked = catalog.functions.filter(
    (fn) => isPublic(fn) && !members.has(fn.oid) && !tracked.has(textOfName(fn)) && world.type(fn.result)?.kind !== 'p',
  )
  const names = untracked.slice(0, 10).map(textOfName).join(', ')
  return [
    ...policies,
    ...tables,
    ...(untracked.length === 0
      ? []
      : [
          `functions that Hasura did not track and that every role may execute (${untracked.length}) ${names}: they are fields now; revoke execute from public`,
        ]),
  ]
}

/** Additions without which documents written for Hasura would lack a counterpart. */
const wanted = {
  relationFilters: { enabled: true },
  orderByRelated: { enabled: true },
  distinctOn: { enabled: true },
  upsert: { enabled: true },
  updates: { enabled: true },
  nestedWrites: { enabled: true },
}

export function importHasura(input: HasuraInput): Imported {
  const { metadata, catalog, facts, roleOf } = input
  const world = createWorld(catalog, metadata.source.tables)
  const permissions = permissionsOf(world)
  const { carried, definers, left } = permissionSql(world, permissions, facts, roleOf)
  const roles = [...new Set(carried.map(({ permission }) => roleOf(permission.role)))].toSorted()
  const schemas = [...new Set(carried.map(({ permission }) => permission.table.schema))].toSorted()
  const naming = namingOf(world, carried, roleOf)
  const functions = functionParts(input, carried)
  const computed = computedParts(world, catalog)
  const inherited = inheritedParts(
    input,
    carried.map(({ permission }) => permission),
  )
  const comments = mergeWishes(new Map(), [...naming.wishes, ...functions.wishes, ...computed.wishes])
  const hidden = memberList(metadata.rest['graphql_schema_introspection'], 'disabled_for_roles').map(String)
  const settings = {
    ...(metadata.source.inflects && { inflect_names: true }),
    ...(hidden.length === 0 && { introspection: true }),
    ...wanted,
  }
  return {
    summary:
      `${carried.length} of ${permissions.length} permissions on ${world.tables.size} of ${metadata.source.tables.length} tables, ` +
      `for ${roles.length} roles: ${rolesOf(metadata)
        .map((role) => (roleOf(role) === role ? role : `${role} as ${roleOf(role)}`))
        .join(', ')}.`,
    statements: [
      ...(roles.length === 0
        ? []
        : [
            ...roleStatements(roles, schemas, input),
            ...inherited.statements,
            ...functionSql(definers, roles, roleOf),
            ...revokeStatements(world, roles),
          ]),
      ...adminStatements(world, facts),
      ...tableStatements(world, carried),
      ...functions.statements,
      ...commentStatements(comments),
      ...catalog.schemas
        .filter(({ name }) => schemas.includes(name))
        .flatMap((schema) => schemaComment(schema, settings)),
    ],
    left: [
      ...(facts.roles.has(admin)
        ? []
        : ['the admin: the database has no service_role yet; run catalograph prepare first']),
      ...world.missing.map((name) => `table ${name}: the database does not have it; load the schema first`),
      ...left,
      ...naming.left,
      ...functions.left,
      ...computed.left,
      ...inherited.left,
      ...restLines(metadata),
      ...(hidden.length === 0 ? [] : [`introspection: not for ${hidden.join(', ')}: it is off for all roles here`]),
      ...wideningLines(input, world, roles),
    ],
  }
}
