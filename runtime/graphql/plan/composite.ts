import { getNamedType, isObjectType, type FieldNode, type GraphQLField } from 'graphql'
import { meaningOf } from '../../engine/meaning.ts'
import type { Planner } from './planner.ts'
import type { CompositeMembers } from './types.ts'

/** Whether a field of a value is selected into. */
export const isComposite = (field: GraphQLField<unknown, unknown>): boolean => isObjectType(getNamedType(field.type))

/** What is selected of a composite value (`composites`, spec/graphql.md 17). */
export function planComposite(
  planner: Planner,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): CompositeMembers {
  const type = planner.objectType(field)
  return planner.fieldsOf(type, nodes).map((selected): CompositeMembers[number] => {
    if (selected.kind === 'typename') return selected
    const meaning = meaningOf(selected.field)
    if (meaning.kind !== 'attribute') throw new Error(`${type.name}.${selected.field.name} is no attribute`)
    const base = { key: selected.key, attribute: meaning.attribute }
    return isComposite(selected.field)
      ? { kind: 'composite', ...base, members: planComposite(planner, selected.field, selected.nodes) }
      : { kind: 'attribute', ...base }
  })
}
