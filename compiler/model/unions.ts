import type { EntityFacts, RelationFacts, UnionFacts } from '../../runtime/contract/manifest.ts'
import { upperFirst } from '../../runtime/contract/name-parts.ts'
import type { UnionSetting } from '../comments/polymorphism.ts'
import { diagnose, collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameRelation } from '../catalog/catalog.ts'
import { isValidName } from './names.ts'
import type { NamedRelation } from './named-relations.ts'
import { nodeIdField } from './columns.ts'

/**
 * Fields of a relation's comment that combine several relations (spec/graphql.md 17.9).
 *
 * @param relations of the relation, all in the API
 */
export function unionFacts(
  named: NamedRelation,
  relations: readonly RelationFacts[],
): WithDiagnostics<Pick<EntityFacts, 'unions'>> {
  const { unions } = named.relation.settings.polymorphism
  const { value, diagnostics } = collectPresent(unions.map((union) => unionOf(named, relations, union)))
  return withDiagnostics(value.length === 0 ? {} : { unions: value }, diagnostics)
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

/** Valid GraphQL names of interfaces. */
export function interfaceFacts({
  relation,
}: NamedRelation): WithDiagnostics<Pick<EntityFacts, 'interfaces' | 'collections'>> {
  const { interfaces, collections } = relation.settings.polymorphism
  const [names, collected] = [interfaces.filter(isValidName), collections.filter(isValidName)]
  const named = interfaces
    .filter((name) => !isValidName(name))
    .map((name) => diagnose('name-unusable', nameRelation(relation), { name, what: 'it is no interface' }))
  return withDiagnostics(
    { ...(names.length > 0 && { interfaces: names }), ...(collected.length > 0 && { collections: collected }) },
    named,
  )
}

/** Of equal names the last relation is used; those of comments take free names (spec/graphql.md 2.4, 17.8). */
const relationNamed = (relations: readonly RelationFacts[], name: string): RelationFacts | undefined =>
  relations.findLast(({ field, way }) => field === name && way === undefined) ??
  relations.find(({ field }) => field === name)
