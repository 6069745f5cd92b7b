import { objectId } from '../../../runtime/contract/facts.ts'
import type { ColumnFacts, EntityFacts, RelationFacts, UnionFacts } from '../../../runtime/contract/manifest.ts'
import { upperFirst } from '../../../runtime/contract/name-parts.ts'
import { nameRelation } from '../../catalog/catalog.ts'
import {
  diagnose,
  collectPresent,
  withDiagnostics,
  type WithDiagnostics,
} from '../../catalog/diagnostics/diagnostics.ts'
import type { AnnotatedColumn, AnnotatedRelation, AnnotatedType } from '../../comments/annotated.ts'
import { collated, familyOf, nodeIdField } from '../../model/columns.ts'
import type { NamedRelation } from '../../model/named-relations.ts'
import { isValidName } from '../../model/names.ts'
import type { UnionSetting } from './decode.ts'

/** The unions and interfaces of a relation's comment, all with valid names. */
export function relationFacts(
  named: NamedRelation,
  _columns: unknown,
  _scope: unknown,
  relations: readonly RelationFacts[],
): WithDiagnostics<Pick<EntityFacts, 'unions' | 'interfaces' | 'collections'>> {
  const { unions = [], interfaces = [], collections = [] } = named.relation.settings.polymorphism ?? {}
  const { value, diagnostics } = collectPresent(unions.map((union) => unionOf(named, relations, union)))
  const [names, collected] = [interfaces.filter(isValidName), collections.filter(isValidName)]
  const unusable = interfaces
    .filter((name) => !isValidName(name))
    .map((name) => diagnose('name-unusable', nameRelation(named.relation), { name, what: 'it is no interface' }))
  const facts = {
    ...(value.length > 0 && { unions: value }),
    ...(names.length > 0 && { interfaces: names }),
    ...(collected.length > 0 && { collections: collected }),
  }
  return withDiagnostics(facts, [...diagnostics, ...unusable])
}

function unionOf(
  { relation, name }: NamedRelation,
  relations: readonly RelationFacts[],
  { field, of }: UnionSetting,
): WithDiagnostics<UnionFacts | null> {
  const lost = (reason: string): WithDiagnostics<null> =>
    withDiagnostics(null, [diagnose('union-unusable', nameRelation(relation), { name: field, reason })])
  if (!isValidName(field) || field === nodeIdField) return lost('its name is none that a field can have')
  const found = of.map((wanted) => ({ wanted, led: relationNamed(relations, wanted) }))
  const missing = found.find(({ led }) => led === undefined)
  if (missing !== undefined) return lost(`there is no relation ${JSON.stringify(missing.wanted)}`)
  const many = found.find(({ led }) => led?.shape === 'many')
  if (many !== undefined) return lost(`the relation ${JSON.stringify(many.wanted)} leads to many rows`)
  return withDiagnostics({ field, type: name + upperFirst(field), of: found.flatMap(({ led }) => led ?? []) })
}

/** Of equal names the last relation is used; those of comments take free names (spec/graphql.md 2.4, 17.8). */
const relationNamed = (relations: readonly RelationFacts[], name: string): RelationFacts | undefined =>
  relations.findLast(({ field, way }) => field === name && way === undefined) ??
  relations.find(({ field }) => field === name)

/** The values that a column can be sorted with: those that convert to its type without rounding or truncation. */
export function columnFacts(
  type: AnnotatedType | undefined,
  { collation, modifier }: AnnotatedColumn,
  { order }: ColumnFacts,
  { settings }: AnnotatedRelation,
): Pick<ColumnFacts, 'sorting'> {
  if (type === undefined || !order || (settings.polymorphism?.collections ?? []).length === 0) return {}
  const family = familyOf(type)
  const own = family === 'text' ? family : `${objectId(type.schema, type.name)}${modifier < 0 ? '' : ` ${modifier}`}`
  return { sorting: collated(own, collation) }
}
