import type { Oid } from '../catalog/types.ts'
import type { AnnotatedRelation } from '../comments/types.ts'
import { createRecall } from '../../runtime/lib/recall.ts'
import type { Scope } from './scope.ts'

const recallOids = createRecall<readonly Oid[]>()

/**
 * What decides about a relation's columns besides the relation itself: the types behind them, and the schemas of enums,
 * which name them. While these are the same, the columns are.
 */
export function columnWitnesses(scope: Scope, relation: AnnotatedRelation): readonly unknown[] {
  const oids = recallOids(relation, [], () => [...new Set(relation.columns.map(({ type }) => type))])
  const known = recallKnown(scope, [], () => new Map())
  return oids.flatMap((oid) => {
    const witnesses = known.get(oid) ?? typeWitnesses(scope, oid)
    known.set(oid, witnesses)
    return witnesses
  })
}

/** Types are few where relations are many: each is looked through once for a scope. */
const recallKnown = createRecall<Map<Oid, readonly unknown[]>>()

function typeWitnesses(scope: Scope, oid: Oid): readonly unknown[] {
  const type = scope.types.get(oid)
  const further = type?.element ?? type?.base ?? null
  const isNamed = type?.kind === 'e' || (type?.attributes.length ?? 0) > 0
  const own = type !== undefined && isNamed ? [type, scope.schemas.get(type.schema)] : [type]
  const inner = [...(further === null ? [] : [further]), ...(type?.attributes.map((item) => item.type) ?? [])]
  return [...own, ...inner.flatMap((one) => typeWitnesses(scope, one))]
}
