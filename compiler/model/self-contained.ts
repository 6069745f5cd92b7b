import { objectId } from '../../runtime/contract/facts.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Annotated } from '../comments/annotated.ts'
import type { Entity } from './entities.ts'

/** Marks relations for which inserts of related rows may be combined unobservably (spec/graphql.md 17.6). */
export function withSelfContained(memo: Memo, annotated: Annotated, entities: readonly Entity[]): readonly Entity[] {
  const { selfContained = [], relations } = annotated
  if (selfContained.length === 0 || !entities.some(({ facts }) => facts.nestedWrites === true)) return entities
  const found = new Set(selfContained)
  const ids = new Set(relations.flatMap(({ oid, schema, name }) => (found.has(oid) ? [objectId(schema, name)] : [])))
  return entities.map((entity) => (ids.has(entity.facts.id) ? memo.of(markedEntity, entity) : entity))
}

const markedEntity = ({ facts, sql }: Entity): Entity => ({ facts: { ...facts, selfContained: true }, sql })
