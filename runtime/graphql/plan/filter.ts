import type { EntityFacts } from '../../contract/manifest.ts'
import { filterMembers } from '../../engine/input-members.ts'
import { byField } from '../../engine/visible.ts'
import { badArgument } from '../protocol/failures.ts'
import { combined, planColumn } from './conditions.ts'
import { checkNodeId, type ElementForm, type NodeTable } from './cursors-and-node-ids.ts'
import type { Input } from './input.ts'
import type { Planner } from './planner.ts'
import type { Filter } from './plan-nodes.ts'
import type { Slot } from './values.ts'

/** The part of the planner that filters need. */
export type FilterPlanner = Pick<Planner, 'visible' | 'countRelated'>

declare module '../../engine/input-members.ts' {
  interface FilterMember {
    readonly plan: (planner: FilterPlanner, input: Input) => Filter | null
  }
}

/**
 * Turns a filter argument into conditions (spec/graphql.md 4.2, 4.3). Empty objects and lists are not conditions at any
 * depth; a null operand compares with null, so that no row matches.
 */
export function planFilter(planner: FilterPlanner, entity: EntityFacts, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  const columns = byField(planner.visible.filterable(entity))
  const conditions = input.fields.flatMap(([name, value]) => {
    const column = columns.get(name)
    const condition =
      column === undefined ? planOther(planner, entity, name, value) : planColumn(planner.visible, column, value)
    return condition === null ? [] : [condition]
  })
  return combined('all', conditions)
}

function planOther(planner: FilterPlanner, entity: EntityFacts, name: string, input: Input): Filter | null {
  switch (name) {
    case 'and':
    case 'or': {
      if (input.kind !== 'list') return null
      const of = input.items.flatMap((item) => planFilter(planner, entity, item) ?? [])
      return combined(name === 'and' ? 'all' : 'any', of)
    }
    case 'not': {
      const of = planFilter(planner, entity, input)
      return of === null ? null : { kind: 'not', of }
    }
    case 'nodeId':
      return planNodeId(entity, input)
    default:
      return filterMembers(planner.visible, entity).get(name)?.plan(planner, input) ?? null
  }
}

function planNodeId(entity: EntityFacts, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  const operand = input.fields.find(([name]) => name === 'eq')?.[1]
  if (operand === undefined) return null
  if (operand.kind !== 'leaf') throw badArgument('Invalid value passed to nodeId argument, Error 1')
  return nodeKey(entity, operand.slot, String(operand.value))
}

/** The condition that a row has the key in a node id of its own relation. */
export function nodeKey(entity: EntityFacts, slot: Slot, token: string): Filter {
  const table: NodeTable = { schema: entity.schema, relation: entity.relation, keys: entity.key.length }
  checkNodeId(token, table)
  return {
    kind: 'key',
    values: entity.key.map((name, index) => ({
      slot,
      encoding: { kind: 'node-key', entity: table, index, form: elementForm(entity, name) },
    })),
  }
}

/** The form of a column's value in a cursor or node id. */
export function elementForm(entity: EntityFacts, name: string): ElementForm {
  const type = entity.columns.find((column) => column.column === name)?.type
  const isJson = type?.kind === 'scalar' && type.name === 'JSON'
  if (type?.list === true) return isJson ? 'json-list' : 'list'
  return isJson ? 'json' : 'text'
}
