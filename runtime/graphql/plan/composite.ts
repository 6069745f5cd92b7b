import { getNamedType, isObjectType, type GraphQLField } from 'graphql'
import { meaningOf } from '../../engine/meaning.ts'
import type { Planner, SelectedField } from './planner.ts'
import type { CompositeMembers } from './plan-nodes.ts'

/** Whether a field of a value has a selection set. */
export const isComposite = (field: GraphQLField<unknown, unknown>): boolean => isObjectType(getNamedType(field.type))

/** The selections of a composite value (`composites`, spec/graphql.md 17). */
export function planComposite(planner: Planner, value: SelectedField): CompositeMembers {
  const type = planner.objectType(value)
  return planner.fieldsOf(type, value.nodes).map((selected): CompositeMembers[number] => {
    if (selected.kind === 'typename') return selected
    const meaning = meaningOf(selected.field)
    if (meaning.kind !== 'attribute') throw new Error(`${type.name}.${selected.field.name} is no attribute`)
    const base = { key: selected.key, attribute: meaning.attribute }
    return isComposite(selected.field)
      ? { kind: 'composite', ...base, members: planComposite(planner, selected) }
      : { kind: 'attribute', ...base }
  })
}
