import { getNamedType, GraphQLNonNull, isAbstractType, isScalarType, type GraphQLSchema } from 'graphql'
import type { RowKey } from '../../contract/lookups.ts'
import type { EntityFacts } from '../../contract/manifest.ts'
import { meaningOf, type ChangeByKey, type FieldMeaning } from '../../engine/meaning.ts'
import { scalars } from '../../engine/schema/scalars.ts'
import type { RoleView } from '../../engine/schema/schema.ts'
import { badArgument } from '../protocol/failures.ts'
import { checkIntrospection } from '../operation/validation.ts'
import type { Operation } from '../operation/operation.ts'
import { decodeNodeId } from './cursors-and-node-ids.ts'
import { planArguments } from './arguments.ts'
import { planCollection, planCollections } from './collection.ts'
import { butKey, planMeant } from './meant.ts'
import { nodeKey } from './filter.ts'
import { slotOf, type Input, type Variables } from './input.ts'
import { introspect } from './introspection.ts'
import { createPlanner, type Planner, type SelectedField, collectFields, type Walk } from './planner.ts'
import { readsOf } from './reads.ts'
import { planResult, planRow, planRowOf } from './rows.ts'
import type { Plan, Root } from './plan-nodes.ts'
import type { Value } from './values.ts'
import { planWrite } from './writes.ts'

/**
 * s2 to s3: decides what a valid operation reads and writes.
 * @throws Refusal for values that cannot be used (spec/graphql.md 14.1, texts marked K), and for selections that cannot
 * be watched (spec/graphql.md 16.1)
 */
export function toPlan(view: RoleView, operation: Operation, variables: Variables): Plan {
  const walk: Walk = { fragments: operation.fragments, variables, covers: coveredIn(view.schema) }
  const type = view.schema.getRootType(operation.node.operation)
  if (type == null) throw new Error(`there is no root type for ${operation.node.operation}`)
  const planner = createPlanner(view.visible, walk, (name) => view.schema.getType(name), planRow)
  const selected = collectFields(walk, type, [operation.node.selectionSet])
  checkIntrospection(
    [...selected.values()].flat().filter(({ name }) => isIntrospection(name.value)),
    operation.fragments,
  )
  const roots = [...selected].map(([key, nodes]): Root => {
    const name = nodes[0]?.name.value ?? key
    if (name === '__typename') return { kind: 'constant', key, json: JSON.stringify(type.name) }
    if (isIntrospection(name)) return { kind: 'constant', key, json: introspect(view, operation, walk, key, nodes) }
    const field = type.getFields()[name]
    if (field === undefined) throw new Error(`the type ${type.name} has no field ${name}`)
    return planRoot(planner, { kind: 'field', key, field, nodes })
  })
  const kind = operation.node.operation
  return { writes: kind === 'mutation', roots, ...(kind === 'subscription' && { reads: readsOf(view.visible, roots) }) }
}

const coveredIn =
  (schema: GraphQLSchema): Walk['covers'] =>
  (name, type) => {
    const abstract = schema.getType(name)
    return isAbstractType(abstract) && schema.isSubType(abstract, type)
  }

const isIntrospection = (name: string): boolean => name === '__schema' || name === '__type'

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** Plans its fields of Mutation. */
    readonly planKeyed?: (planner: Planner, meaning: ChangeByKey, selected: SelectedField) => Root
    /** Another plan of an update of one row, of related ones too; null: the usual one. */
    readonly planRowUpdate?: (
      planner: Planner,
      entity: EntityFacts,
      key: RowKey,
      selected: SelectedField,
    ) => Root | null
  }
}

function planRoot(planner: Planner, selected: SelectedField): Root {
  const { key, field } = selected
  const meaning = meaningOf(field)
  if (meaning.kind === 'collection')
    return { kind: 'collection', key, collection: planCollection(planner, meaning.entity, selected) }
  if (meaning.kind === 'collections')
    return { kind: 'collections', key, of: planCollections(planner, meaning.of, selected) }
  if (meaning.kind === 'by-key') return planByKey(planner, meaning, selected)
  if (meaning.kind === 'node') return planNode(planner, selected)
  if (meaning.kind === 'call') {
    const { function: fn } = meaning
    const args = planArguments(fn, planner.args(selected))
    return { key, call: fn.id, args, ...planResult('call', planner, fn, selected) }
  }
  if (meaning.kind === 'insert' || meaning.kind === 'update' || meaning.kind === 'delete')
    return planWrite(planner, meaning.kind, meaning.entity, selected)
  const isByKey = meaning.kind === 'update-row' || meaning.kind === 'delete-row' || meaning.kind === 'update-rows'
  const { additions } = planner.visible
  const [keyed] = isByKey ? additions.flatMap((one) => one.planKeyed?.(planner, meaning, selected) ?? []) : []
  if (keyed === undefined) throw new Error(`${field.name} cannot stand at the root`)
  return keyed
}

type ByKey = Extract<FieldMeaning, { kind: 'by-key' }>

const scalar = (input: Input, maxLength: number | null): Value => ({
  slot: slotOf(input),
  encoding: { kind: 'scalar', maxLength },
})

function planByKey(planner: Planner, { entity, args: names, by }: ByKey, selected: SelectedField): Root {
  const args = planner.args(planner.walk.variables.untyped ? unchecked(selected) : selected)
  return {
    kind: 'by-key',
    key: selected.key,
    ...(by && { by }),
    values: names.map((name) => scalar(args(name), null)),
    ...planMeant(planner.visible, entity, butKey(names, args)),
    row: planRow(planner, entity, selected),
  }
}

/** With validation off, Postgres checks the types of keys (11). Enums must be looked up. */
const unchecked = (selected: SelectedField): SelectedField => {
  const args = selected.field.args.map((argument) =>
    isScalarType(getNamedType(argument.type)) ? { ...argument, type: new GraphQLNonNull(scalars.Opaque) } : argument,
  )
  return { ...selected, field: { ...selected.field, args } }
}

/** The relation of a node id decides the statement, so the id is read here and not only when it is bound. */
function planNode(planner: Planner, selected: SelectedField): Root {
  const input = planner.args(selected)('nodeId')
  if (input.kind !== 'leaf') throw badArgument('Invalid value passed to nodeId argument. Error 1')
  const token = String(input.value)
  const { schema, relation } = decodeNodeId(token)
  const entity = planner.visible.exposed.find(
    (candidate) => candidate.schema === schema && candidate.relation === relation,
  )
  if (entity === undefined) throw badArgument('Collection referenced by nodeId did not match any known collection')
  const condition = nodeKey(entity, input.slot, token)
  const values = condition.kind === 'key' ? condition.values : []
  const row = planRowOf(planner, entity, planner.rowType(entity.name), selected.nodes)
  const meant = planMeant(planner.visible, entity, planner.args(selected))
  return { kind: 'by-key', key: selected.key, values, ...meant, row }
}
