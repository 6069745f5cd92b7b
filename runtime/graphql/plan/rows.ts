import type { FieldNode, GraphQLObjectType } from 'graphql'
import type { EntityFacts, FunctionFacts } from '../../contract/manifest.ts'
import { meaningOf } from '../../engine/meaning.ts'
import { planArguments } from './arguments.ts'
import { planCollection } from './collection.ts'
import { isComposite, planComposite } from './composite.ts'
import { resultEntity, type Planner, type SelectedField } from './planner.ts'
import type { Row, RowMember } from './types.ts'

/** The row that a field returns. */
export function planRow(planner: Planner, entity: EntityFacts, selected: SelectedField): Row {
  return planRowOf(planner, entity, planner.objectType(selected), selected.nodes)
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
    switch (meaning.kind) {
      case 'node-id':
        return { kind: 'node-id', key }
      case 'column':
        return isComposite(field)
          ? { kind: 'composite', key, column: meaning.column, members: planComposite(planner, selected) }
          : { kind: 'column', key, column: meaning.column }
      case 'relation': {
        const { relation, target } = meaning
        return relation.shape === 'many'
          ? { kind: 'many', key, join: relation, collection: planCollection(planner, target, selected) }
          : { kind: 'one', key, join: relation, unique: relation.unique, row: planRow(planner, target, selected) }
      }
      case 'computed':
        return planComputed(planner, meaning.function, selected)
      case 'collection':
      case 'by-key':
      case 'node':
      case 'call':
      case 'insert':
      case 'update':
      case 'delete':
      case 'attribute':
      case 'member':
        throw new Error(`${type.name}.${field.name} cannot stand on a row`)
    }
  })
  return { entity, members }
}

function planComputed(planner: Planner, fn: FunctionFacts, selected: SelectedField): RowMember {
  const args = planArguments(fn, planner.args(selected))
  const base = { key: selected.key, function: fn.id, ...(args.length > 0 && { args }) }
  if (fn.result.kind === 'void') return { kind: 'computed-void', ...base }
  if (fn.result.kind === 'value') {
    return isComposite(selected.field)
      ? { kind: 'computed-composite', ...base, members: planComposite(planner, selected) }
      : { kind: 'computed-value', ...base }
  }
  const target = resultEntity(planner, fn)
  return fn.result.kind === 'row'
    ? { kind: 'computed-row', ...base, row: planRow(planner, target, selected) }
    : {
        kind: 'computed-set',
        ...base,
        volatile: fn.volatile,
        collection: planCollection(planner, target, selected),
      }
}
