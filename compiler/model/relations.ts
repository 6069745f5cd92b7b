import type { RelationFacts } from '../../runtime/contract/manifest.ts'
import { rootField } from '../../runtime/contract/name-parts.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose, collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import type { NamedRelation, RelationOutline } from './named-relations.ts'
import type { Link, RelationLinks } from './foreign-keys.ts'
import { isValidName, toOneField } from './names.ts'
import { nodeIdField, nodeIdDiagnostic } from './columns.ts'
import { isIdentified, isUnique } from '../catalog/catalog.ts'
import { isOn } from '../comments/additions.ts'

/**
 * Relation fields of one relation (spec/graphql.md 8, 2.3): forward ones, then reverse ones, then those of
 * additions. A target without a key has no types in the API, so it has no fields; an invalid
 * GraphQL name loses its field.
 */
export function buildRelations(
  { relation, schema }: NamedRelation,
  { forward, reverse }: RelationLinks,
  added: WithDiagnostics<readonly RelationFacts[]>,
): WithDiagnostics<readonly RelationFacts[]> {
  const joined = schema.joins.some((name) => isOn(name, relation, schema))
  const direct = collectPresent([
    ...leadingOn(forward).map((link) => checkName(link, forwardRelation(relation, link, joined))),
    ...leadingBack(reverse).map((link) => checkName(link, reverseRelation(link))),
  ])
  return withDiagnostics([...direct.value, ...added.value], [...direct.diagnostics, ...added.diagnostics])
}

/** The keys of a relation that have a field on it, and those that have one on their target. */
export const leadingOn = (forward: readonly Link[]): readonly Link[] =>
  preferWhole(forward, forwardField).filter((link) => isReachable(link.parent))
export const leadingBack = (reverse: readonly Link[]): readonly Link[] =>
  reverse.filter((link) => isReachable(link.child))

function forwardRelation(child: AnnotatedRelation, link: Link, joined: boolean): RelationFacts {
  const notNull = isForwardNotNull(link, child)
  return {
    field: forwardField(link),
    shape: 'one',
    direction: 'forward',
    target: link.parent.id,
    local: link.columns,
    foreign: link.foreignColumns,
    notNull,
    unique: isIdentified(link.parent, link.foreignColumns),
    ...(joined && notNull && { always: true }),
  }
}

export function reverseField(link: Link): string {
  const isOne = isUnique(link.child, link.columns)
  return (
    link.localName ?? (isOne ? toOneField(link.foreignColumns, link.child) : rootField('collection', link.child.name))
  )
}

function reverseRelation(link: Link): RelationFacts {
  return {
    field: reverseField(link),
    shape: isUnique(link.child, link.columns) ? 'one' : 'many',
    direction: 'reverse',
    target: link.child.id,
    local: link.foreignColumns,
    foreign: link.columns,
    notNull: false,
    unique: isIdentified(link.child, link.columns),
  }
}

function checkName(link: Link, relation: RelationFacts): WithDiagnostics<RelationFacts | null> {
  const what = `its ${relation.direction} relation has no field`
  if (relation.field === nodeIdField) return withDiagnostics(null, [nodeIdDiagnostic(link.object, what)])
  if (isValidName(relation.field)) return withDiagnostics(relation)
  return withDiagnostics(null, [diagnose('name-unusable', link.object, { name: relation.field, what })])
}

export const isReachable = (outline: RelationOutline): boolean => outline.key.length > 0

export const forwardField = (link: Link): string => link.foreignName ?? toOneField(link.columns, link.parent)

/**
 * Whether every row of the link's child has its parent and every role sees it (spec/graphql.md 0, decision 18), so that
 * the field is NonNull and an inner join loses no row: all columns are NOT NULL, because Postgres ignores a key with a
 * null, but row-level security or an addition may hide the row, or its own key may have a null. A comment's
 * key is not enforced; a constraint that is not validated, or that is one partition's share of a key, guarantees
 * nothing. Under MATCH FULL one NOT NULL column would be enough; nullable is right there, too.
 */
const isForwardNotNull = (
  { declared, guaranteed, parent, columns, foreignColumns }: Link,
  child: AnnotatedRelation,
): boolean =>
  !declared &&
  guaranteed &&
  !parent.rowSecurity &&
  !parent.hidesRows &&
  parent.looseKey.every((name) => foreignColumns.includes(name)) &&
  columns.every((name) => child.columns.some((column) => column.name === name && column.notNull))

/**
 * Postgres copies a key that refers to a partitioned table for each of its partitions. A copy whose forward field would
 * have the name of the whole key's gives way: the field leads to the partitioned table (spec/graphql.md 1.2, decision
 * 14).
 */
export const preferWhole = (links: readonly Link[], field: (link: Link) => string): readonly Link[] =>
  links.filter(
    (link) =>
      link.guaranteed ||
      !links.some((other) => other.guaranteed && sameColumns(other, link) && field(other) === field(link)),
  )

const sameColumns = (a: Link, b: Link): boolean =>
  a.columns.length === b.columns.length && a.columns.every((column, index) => column === b.columns[index])
