import type { Diagnostic, EntityFacts, Grantee, Grantees } from '../../runtime/contract/manifest.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import { ident, qualified } from '../../runtime/sql/ident.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import type { Annotated, AnnotatedColumn, AnnotatedRelation, AnnotatedType } from '../comments/annotated.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/diagnostics/object-name.ts'
import type { Entity } from './entities.ts'
import { columnGrants, tableGrants } from './privileges.ts'

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
