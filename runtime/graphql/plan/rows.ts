import { type FieldNode, type GraphQLObjectType, getNamedType, isObjectType, type GraphQLField } from 'graphql'
import type { EntityFacts, FunctionFacts } from '../../contract/manifest.ts'
import { meaningOf, type FieldMeaning } from '../../engine/meaning.ts'
import type { Related } from '../../engine/related.ts'
import { planArguments } from './arguments.ts'
import { planCollection } from './collection.ts'
import type { Planner, SelectedField } from './planner.ts'
import { joinOf, joinTo } from './joins.ts'
import type { CallResult, Row, RowMember, ToOne, CompositeMembers } from './plan-nodes.ts'

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** Plans the fields that it adds to rows; null: one of another kind. */
    readonly planRowMember?: (planner: Planner, meaning: FieldMeaning, selected: SelectedField) => RowMember | null
  }
}

export function planRow(planner: Planner, entity: EntityFacts, selected: SelectedField): Row {
  return planRowOf(planner, entity, planner.rowType(entity.name), selected.nodes)
}

/** A row whose type is known even if the field declares an interface (node). */
export function planRowOf(
  planner: Planner,
  entity: EntityFacts,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Row {
  const members = planner.fieldsOf(type, nodes).map((selected): RowMember => {
    if (selected.kind === 'typename') return selected
    const { key, field } = selected
    const meaning = meaningOf(field)
    if (meaning.kind === 'node-id') return { kind: 'node-id', key }
    if (meaning.kind === 'column')
      return isComposite(field)
        ? { kind: 'composite', key, column: meaning.column, members: planComposite(planner, selected) }
        : { kind: 'column', key, column: meaning.column }
    if (meaning.kind === 'relation') {
      const { relation, target } = meaning
      if (relation.shape === 'one') return { kind: 'one', key, ...planOne(planner, meaning, selected) }
      const join = joinOf(planner, relation)
      return { kind: 'many', key, join, collection: planCollection(planner, target, selected) }
    }
    if (meaning.kind === 'union')
      return { kind: 'union', key, of: meaning.of.map((related) => planOne(planner, related, selected)) }
    if (meaning.kind !== 'computed') {
      const [added] = planner.visible.additions.flatMap((one) => one.planRowMember?.(planner, meaning, selected) ?? [])
      if (added === undefined) throw new Error(`${type.name}.${field.name} cannot stand on a row`)
      return added
    }
    const { function: fn } = meaning
    const args = planArguments(fn, planner.args(selected))
    const called = { key, function: fn.id, ...(args.length > 0 && { args }) }
    return { ...called, ...planResult('computed', planner, fn, selected) }
  })
  return { entity, members }
}

const planOne = (planner: Planner, related: Related, selected: SelectedField): ToOne => ({
  join: joinTo(planner, related, planner.args(selected)),
  unique: related.relation.unique,
  row: planRowOf(planner, related.target, planner.rowType(related.target.name), selected.nodes),
})

export function planResult<Of extends 'call' | 'computed'>(
  of: Of,
  planner: Planner,
  { id, result, volatile }: FunctionFacts,
  selected: SelectedField,
): CallResult<Of> {
  if (result.kind === 'void') return { kind: `${of}-void` }
  if (result.kind === 'value') {
    return isComposite(selected.field)
      ? { kind: `${of}-composite`, members: planComposite(planner, selected) }
      : { kind: `${of}-value` }
  }
  const target = planner.visible.entity(result.entity)
  if (target === undefined) throw new Error(`the function ${id} returns no rows`)
  return result.kind === 'row'
    ? { kind: `${of}-row`, row: planRow(planner, target, selected) }
    : { kind: `${of}-set`, volatile, collection: planCollection(planner, target, selected) }
}

/** Whether a field of a value has a selection set. */
const isComposite = (field: GraphQLField<unknown, unknown>): boolean => isObjectType(getNamedType(field.type))

/** The selections of a composite value (`composites`, spec/graphql.md 17). */
function planComposite(planner: Planner, value: SelectedField): CompositeMembers {
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
