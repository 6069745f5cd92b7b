import type { EntityFacts } from '../../contract/manifest.ts'
import { filterComputed } from '../../engine/computed-filters.ts'
import { filterRelations, type Related } from '../../engine/related.ts'
import { byField } from '../../engine/visible.ts'
import { badArgument } from '../protocol/failures.ts'
import { planColumns } from './compared.ts'
import { combined, comparedAs, planColumn, planValue } from './conditions.ts'
import { checkNodeId, type ElementForm, type NodeTable } from './cursors-and-node-ids.ts'
import type { Input } from './input.ts'
import { joinTo } from './joins.ts'
import type { Planner } from './planner.ts'
import type { Filter, Quantifier } from './plan-nodes.ts'
import type { Slot } from './values.ts'

/** The part of the planner that filters need. */
type FilterPlanner = Pick<Planner, 'visible' | 'countRelated'>

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
    default: {
      const computed = filterComputed(planner.visible, entity).get(name)
      if (computed !== undefined) {
        const { function: fn, type } = computed
        return planValue(comparedAs(planner.visible, { computed: fn }, type), input)
      }
      const related = filterRelations(planner.visible, entity).get(name)
      if (related !== undefined) return planRelated(planner, related, input)
      return name === 'columns' ? combined('all', planColumns(planner.visible, entity, input)) : null
    }
  }
}

/**
 * Conditions on related rows (spec/graphql.md 17). Conditions on a to-one relation require an existing row; empty
 * conditions on it are ignored, like those of `every`.
 */
function planRelated(planner: FilterPlanner, { relation, target }: Related, input: Input): Filter | null {
  if (input.kind !== 'object') return null
  const related = (quantifier: Quantifier, conditions: Input): Filter | null => {
    if (conditions.kind !== 'object') return null
    const of = planFilter(planner, target, conditions)
    if (of === null && (quantifier === 'every' || relation.shape === 'one')) return null
    planner.countRelated()
    return { kind: 'related', quantifier, entity: target, join: joinTo(planner, { relation, target }), of }
  }
  if (relation.shape === 'one') return related('some', input)
  return combined(
    'all',
    input.fields.flatMap(([name, conditions]) => related(name as Quantifier, conditions) ?? []),
  )
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
