import type {
  EntityFacts,
  ObjectId,
  TenantFacts,
  Diagnostic,
  Grantee,
  Grantees,
} from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import { compareBytes } from '../../runtime/lib/text.ts'
import { ident, qualified } from '../../runtime/sql/ident.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import { type CatalogDistributed, type CatalogPolicy, nameRelation } from '../catalog/catalog.ts'
import type { Annotated, AnnotatedRelation, AnnotatedColumn, AnnotatedType } from '../comments/annotated.ts'
import type { Entity } from './entities.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import { diagnose, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { columnGrants, tableGrants } from './privileges.ts'
import { literal } from '../../runtime/sql/tree.ts'
import type { Link, RelationLinks } from './foreign-keys.ts'

/** A relation's tenant, and SQL of type text for its value if policies name it. */
interface Tenant {
  readonly facts: TenantFacts
  readonly expression?: string
}

/** Adds the distribution column of Citus, and the tenant of policies. */
export function withTenants(annotated: Annotated, entities: readonly Entity[]): readonly Entity[] {
  const { distributed } = annotated
  if (distributed === undefined) return entities
  const tenants = tenantsOf(annotated, distributed)
  return entities.map((entity) => withTenant(entity, tenants.get(entity.facts.id)))
}

const withTenant = ({ facts, sql }: Entity, tenant: Tenant | undefined): Entity =>
  tenant === undefined
    ? { facts, sql }
    : {
        facts: { ...facts, tenant: tenant.facts } satisfies EntityFacts,
        sql: { ...sql, ...(tenant.expression !== undefined && { tenant: tenant.expression }) },
      }

function tenantsOf(annotated: Annotated, distributed: readonly CatalogDistributed[]): ReadonlyMap<ObjectId, Tenant> {
  const relations = new Map(annotated.relations.map((relation) => [relation.oid, relation]))
  return new Map(
    distributed.flatMap((how) => {
      const relation = relations.get(how.oid)
      const tenant = relation === undefined ? null : tenantOf(annotated, relation, how)
      return relation === undefined || tenant === null
        ? []
        : [[objectId(relation.schema, relation.name), tenant] as const]
    }),
  )
}

function tenantOf(annotated: Annotated, relation: AnnotatedRelation, how: CatalogDistributed): Tenant | null {
  const column = relation.columns.find(({ name }) => name === how.column)
  if (column === undefined) return null
  const expression = relation.rowSecurity ? policedBy(how, column) : null
  if (expression === null) return { facts: { column: column.name } }
  return {
    facts: { column: column.name, policed: { exempt: exemptFrom(annotated, relation, how) } },
    expression: `(${expression})::text`,
  }
}

/** The expression that all policies for reading compare the column with; null: none, or different ones. */
function policedBy(
  { policies }: CatalogDistributed,
  { name, typeText }: AnnotatedRelation['columns'][number],
): string | null {
  // Permissive policies are alternatives, whatever their roles are.
  const [expression = null, ...others] = policies
    .filter(({ command }) => command === 'r' || command === '*')
    .map(({ using }) => tenantIn(using ?? '', name, typeText))
  return others.some((found) => found !== expression) ? null : expression
}

/** Roles that bypass row-level security (PostgreSQL manual 5.9). */
function exemptFrom(
  annotated: Annotated,
  { owner }: AnnotatedRelation,
  { forced }: CatalogDistributed,
): readonly string[] {
  const privileges = rolePrivileges(annotated)
  const owns = (name: string): boolean => !forced && (privileges[name]?.effective.includes(owner) ?? false)
  return annotated.roles
    .filter(({ name, superuser, bypassRls }) => superuser || bypassRls || owns(name))
    .map(({ name }) => name)
    .sort(compareBytes)
}

/** An expression of claims alone, as Postgres prints it: it is constant for a caller. */
const ofClaims =
  /^(?:'(?:[^']|'')*'::text|current_setting\('request\.jwt\.claims?(?:\.\w+)?'::text(?:, true)?\)|auth\.(?:uid|jwt)\(\)|::(?:text|jsonb?|uuid|bigint|integer|smallint)\b|->>?|#>>?|NULLIF\(|COALESCE\(|[(), ])+$/

/** The operand of a condition on the column, if it depends on claims alone and has the column's type; else null. */
export function tenantIn(condition: string, column: string, type: string): string | null {
  const found = conjunctsOf(condition).flatMap((conjunct) => {
    const sides = dividedBy(bareOf(conjunct), ' = ')
    const other = sides.length === 2 ? sides.filter((side) => side !== ident(column) && side !== column) : []
    return other.length === 1 ? other : []
  })
  return found.find((side) => ofClaims.test(side) && hasType(side, type)) ?? null
}

/** Whether its outermost cast or constructor gives the type. */
const hasType = (expression: string, type: string): boolean =>
  bareOf(expression) === 'auth.uid()' ? type === 'uuid' : type === 'text' || expression.endsWith(`)::${type}`)

const conjunctsOf = (condition: string): readonly string[] => dividedBy(bareOf(condition), ' AND ')

/** Without the outer parentheses. */
function bareOf(text: string): string {
  const isWhole =
    text.startsWith('(') &&
    depthsOf(text)
      .slice(0, -1)
      .every((depth) => depth > 0)
  return isWhole ? bareOf(text.slice(1, -1)) : text
}

/** After each character: the number of open parentheses, Infinity within a constant or a quoted name. */
function depthsOf(text: string): readonly number[] {
  let [depth, quote] = [0, '']
  return text.split('').map((character) => {
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === "'" || character === '"') quote = character
    else depth += character === '(' ? 1 : character === ')' ? -1 : 0
    return quote === '' ? depth : Infinity
  })
}

/** The parts between these words outside of parentheses. */
function dividedBy(text: string, words: string): readonly string[] {
  const depths = depthsOf(text)
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
    if (depths[at] !== 0) continue
    parts.push(text.slice(from, at))
    from = at + words.length
  }
  return [...parts, text.slice(from)]
}

/**
 * Citus writes the defaults of all columns into the insert that it sends to a shard, where the role needs INSERT on
 * them too: a role with INSERT on other columns only cannot insert.
 */

/** A distributed relation with column grants for INSERT, and its columns with defaults. */
interface Defaulted {
  readonly relation: AnnotatedRelation
  readonly columns: readonly AnnotatedColumn[]
}

type Types = Lookup<AnnotatedType>

const insertersOf = (column: AnnotatedColumn): Grantees => columnGrants(column).insert

/** The defaults that Postgres adds to an insert; a generated column is computed on the shard. */
const isSent =
  (types: Types) =>
  ({ generated, identity, hasDefault, type }: AnnotatedColumn): boolean =>
    !generated && (identity || hasDefault || types.get(type)?.hasDefault === true)

function defaulted({ relations, distributed = [] }: Annotated, types: Types): readonly Defaulted[] {
  if (distributed.length === 0) return []
  const spread = new Set(distributed.map(({ oid }) => oid))
  return relations
    .filter(({ oid, columns }) => spread.has(oid) && columns.some((column) => insertersOf(column).length > 0))
    .map((relation) => ({ relation, columns: relation.columns.filter(isSent(types)) }))
    .filter(({ columns }) => columns.length > 0)
}

/** Adds the columns that each insert writes, named or not. */
export function withSentDefaults(annotated: Annotated, types: Types, entities: readonly Entity[]): readonly Entity[] {
  const found = new Map(
    defaulted(annotated, types).map(({ relation: { schema, name }, columns }) => [
      objectId(schema, name),
      columns.map(insertersOf),
    ]),
  )
  if (found.size === 0) return entities
  return entities.map((entity) => {
    const sentDefaults = found.get(entity.facts.id)
    return sentDefaults === undefined
      ? entity
      : { ...entity, facts: { ...entity.facts, sentDefaults } satisfies EntityFacts }
  })
}

/** The roles that therefore cannot insert, and the missing grants. */
export function sentDefaultsDiagnostics(annotated: Annotated, types: Types): readonly Diagnostic[] {
  const privileges = rolePrivileges(annotated)
  const holds = (role: Grantee, grantees: Grantees): boolean => {
    const effective = privileges[role]?.effective ?? [role]
    return grantees.some((one) => effective.includes(one))
  }
  return defaulted(annotated, types).flatMap(({ relation, columns }) => {
    const whole = tableGrants(relation.grants).insert
    const roles = [...new Set(relation.columns.flatMap(insertersOf))].toSorted().filter((role) => !holds(role, whole))
    const lacking = roles.flatMap((role) => {
      const names = columns.filter((column) => !holds(role, insertersOf(column))).map(({ name }) => name)
      return names.length === 0 ? [] : [{ role, names }]
    })
    if (lacking.length === 0) return []
    const sql = lacking.map(({ role, names }) => grantSql(relation, role, names)).join(' ')
    return [diagnose('defaults-sent', nameRelation(relation), { roles: lacking.map(({ role }) => role), sql })]
  })
}

const grantSql = ({ schema, name }: AnnotatedRelation, role: Grantee, columns: readonly string[]): string =>
  `grant insert (${columns.map(ident).join(', ')}) on ${qualified(schema, name)} to ${role === 'public' ? role : ident(role)};`

/**
 * Relations without those whose restrictive policies do not apply: Citus makes them permissive on the servers of the
 * rows, so that more rows would be visible and writable.
 */
export function withoutLoosened({
  relations,
  distributed = [],
}: Annotated): WithDiagnostics<readonly AnnotatedRelation[]> {
  const loosened = new Map(
    distributed
      .filter(({ policies }) => policies.some(({ permissive }) => !permissive))
      .map(({ oid, policies }) => [oid, policies]),
  )
  const isLoosened = ({ oid, rowSecurity }: AnnotatedRelation): boolean => rowSecurity && loosened.has(oid)
  if (loosened.size === 0) return withDiagnostics(relations)
  return withDiagnostics(
    relations.filter((relation) => !isLoosened(relation)),
    relations.filter(isLoosened).map((relation) => loosenedDiagnostic(relation, loosened.get(relation.oid) ?? [])),
  )
}

const loosenedDiagnostic = (relation: AnnotatedRelation, policies: readonly CatalogPolicy[]): Diagnostic =>
  diagnose('policies-loosened', nameRelation(relation), {
    policies: policies.filter(({ permissive }) => !permissive).map(({ name }) => name),
    sql: foldedSql(relation, policies),
  })

/** SQL by which permissive policies include the restrictive ones; null: their roles differ, so it is impossible. */
export function foldedSql(
  { schema, name }: Pick<AnnotatedRelation, 'schema' | 'name'>,
  policies: readonly CatalogPolicy[],
): string | null {
  const on = (policy: CatalogPolicy): string => `policy ${ident(policy.name)} on ${qualified(schema, name)}`
  const permissive = policies.filter((policy) => policy.permissive)
  const restrictive = policies.filter((policy) => !policy.permissive)
  const isFoldable = (policy: CatalogPolicy): boolean =>
    policy.everybody && (policy.command === '*' || permissive.every(({ command }) => command !== '*'))
  if (!restrictive.every(isFoldable)) return null
  const altered = permissive.flatMap((policy) => {
    const held = restrictive.filter(({ command }) => command === '*' || command === policy.command)
    return held.length === 0 ? [] : [`alter ${on(policy)}${demanded([policy, ...held], policy.command)};`]
  })
  return [...altered, ...restrictive.map((policy) => `drop ${on(policy)};`)].join(' ')
}

/** The combined conditions. Without its own check a policy checks new rows by its USING. */
function demanded(policies: readonly CatalogPolicy[], command: CatalogPolicy['command']): string {
  const checks =
    command === 'a' || ((command === 'w' || command === '*') && policies.some(({ check }) => check !== null))
  return [
    command === 'a'
      ? ''
      : clause(
          'using',
          policies.map(({ using }) => using),
        ),
    checks
      ? clause(
          'with check',
          policies.map(({ using, check }) => check ?? using),
        )
      : '',
  ].join('')
}

function clause(words: string, conditions: readonly (string | null)[]): string {
  const given = conditions.filter((condition) => condition !== null)
  return given.length === 0 ? '' : ` ${words} (${given.join(' and ')})`
}

type Place =
  | { readonly kind: 'here' | 'everywhere' }
  /** Rows with equal values in the column are on the server of the same group's rows; null: all are together. */
  | { readonly kind: 'spread'; readonly column: string | null; readonly group: string }

interface Placed {
  readonly relation: AnnotatedRelation
  readonly place: Place
}

const distributionOf = (how: CatalogDistributed | undefined): Place => {
  if (how === undefined) return { kind: 'here' }
  if (how.everywhere) return { kind: 'everywhere' }
  // Citus lists local tables that foreign keys of reference tables refer to.
  if (how.column === null && how.group === '0') return { kind: 'here' }
  return { kind: 'spread', column: how.column, group: how.group }
}

/** Diagnostics of relations between different servers (Citus). */
export function crossingDiagnostics(
  { relations, distributed }: Pick<Annotated, 'relations' | 'distributed'>,
  links: Lookup<RelationLinks>,
): readonly Diagnostic[] {
  if (distributed === undefined) return []
  const how = new Map(distributed.map((one) => [one.oid, one]))
  const placed = new Map(
    relations
      .filter(({ kind }) => kind === 'r' || kind === 'p')
      .map((relation) => [
        objectId(relation.schema, relation.name),
        { relation, place: distributionOf(how.get(relation.oid)) } satisfies Placed,
      ]),
  )
  return [...placed.keys()].flatMap((id) =>
    (links.get(id)?.forward ?? []).flatMap((link) => {
      const [child, parent] = [placed.get(link.child.id), placed.get(link.parent.id)]
      return child === undefined || parent === undefined ? [] : (diagnosisOf(link, child, parent) ?? [])
    }),
  )
}

function diagnosisOf(link: Link, child: Placed, parent: Placed): Diagnostic | null {
  const [here, there] = [child.place, parent.place]
  if (here.kind === 'spread' && there.kind === 'spread') return betweenSpread(link, child, here, parent, there)
  const spread = here.kind === 'spread' ? child : there.kind === 'spread' ? parent : null
  if (spread === null) return null
  const other = spread === child ? parent : child
  if (other.place.kind === 'here')
    return crosses(
      link,
      `${nameRelation(other.relation)} lies on the coordinator alone, and ${nameRelation(spread.relation)} on shards`,
      `select create_reference_table(${nameIn(other.relation)});`,
    )
  return within(link)
}

function betweenSpread(
  link: Link,
  child: Placed,
  here: Place & { readonly kind: 'spread' },
  parent: Placed,
  there: Place & { readonly kind: 'spread' },
): Diagnostic | null {
  const both = `${nameRelation(child.relation)} and ${nameRelation(parent.relation)}`
  if (here.group !== there.group)
    return crosses(
      link,
      `the shards of ${both} are not co-located`,
      `select alter_distributed_table(${nameIn(child.relation)}, colocate_with => ${nameIn(parent.relation)}); It drops comments on the table: run them again.`,
    )
  if (here.column === null) return null
  const isJoined = link.columns.some((name, at) => name === here.column && link.foreignColumns[at] === there.column)
  if (isJoined) return within(link)
  return crosses(
    link,
    `its columns are not those that ${both} are distributed by`,
    `Let it name ${JSON.stringify(here.column)} here and ${JSON.stringify(there.column)} there, beside the columns that it names.`,
  )
}

const nameIn = ({ schema, name }: AnnotatedRelation): string => literal(qualified(schema, name))

const crosses = (link: Link, why: string, fix: string): Diagnostic =>
  diagnose('relation-crosses-shards', link.object, { why, fix })

const within = ({ object }: Link): Diagnostic => diagnose('relation-within-tenant', object, {})
