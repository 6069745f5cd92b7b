import type { EntityFacts, ObjectId, TenantFacts } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import { compareBytes } from '../../runtime/lib/text.ts'
import { ident } from '../../runtime/sql/ident.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import type { CatalogDistributed } from '../catalog/catalog.ts'
import type { Annotated, AnnotatedRelation } from '../comments/annotated.ts'
import type { Entity } from './entities.ts'

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

/** What a condition compares the column with, if that depends on claims alone and has the column's type; else null. */
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
