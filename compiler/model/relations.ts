import type { RelationFacts } from '../../runtime/contract/manifest.ts'
import { rootField } from '../../runtime/contract/name-parts.ts'
import type { AnnotatedRelation } from '../comments/annotated.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/with-diagnostics.ts'
import type { NamedRelation } from './named-relations.ts'
import type { Link, RelationLinks } from './links.ts'
import { crossingRelation, forwardField, isReachable, type Crossing } from './crossings.ts'
import { isValidName, toOneField } from './names.ts'
import { nodeIdField, nodeIdDiagnostic } from './node-id.ts'
import { isForwardNotNull } from './rules/forward-not-null.ts'
import { isIdentified, isUnique } from './rules/one-to-one.ts'
import { tableAdditions } from './table-additions.ts'
import { preferWhole } from './rules/whole-before-partitions.ts'

/**
 * Relation fields of one relation (spec/graphql.md 8, 2.3): forward ones, then reverse ones, then those of its comment
 * and those through another relation. A target without a key has no types in the API, so it has no fields; an invalid
 * GraphQL name loses its field.
 */
export function buildRelations(
  { relation, schema }: NamedRelation,
  { forward, reverse }: RelationLinks,
  linked: WithDiagnostics<readonly RelationFacts[]>,
  crossings: readonly Crossing[],
): WithDiagnostics<readonly RelationFacts[]> {
  const { orderByRelated, groups } = tableAdditions(relation, schema)
  const joined = orderByRelated === true || groups === true
  const direct = collectPresent([
    ...leadingOn(forward).map((link) => checkName(link, forwardRelation(relation, link, joined))),
    ...leadingBack(reverse).map((link) => checkName(link, reverseRelation(link))),
  ])
  return withDiagnostics(
    [...direct.value, ...linked.value, ...crossings.map(crossingRelation)],
    [...direct.diagnostics, ...linked.diagnostics],
  )
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
