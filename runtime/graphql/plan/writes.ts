import type { FieldNode, GraphQLField } from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { badArgument } from '../failures.ts'
import { planFilter } from './filter.ts'
import { slotOf, type Input } from './input.ts'
import { planMembers, type Planner } from './planner.ts'
import type { Encoding, InsertRows, ResponseMember, Root, Value } from './types.ts'

/** Insert, update and delete (spec/graphql.md section 10). */
export function planWrite(
  planner: Planner,
  kind: 'insert' | 'update' | 'delete',
  entity: EntityFacts,
  key: string,
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
): Root {
  const args = planner.args(field, nodes)
  const members = planResponse(planner, entity, field, nodes)
  if (kind === 'insert') return { kind, key, entity, rows: planRows(planner, entity, args('objects')), members }
  const filter = planFilter(entity, args('filter'))
  const atMost = { slot: slotOf(args('atMost')), encoding: { kind: 'scalar', maxLength: null } } as const
  if (kind === 'delete') return { kind, key, entity, filter, atMost, members }
  return { kind, key, entity, set: planSet(entity, args('set')), filter, atMost, members }
}

const planResponse = (planner: Planner, entity: EntityFacts, field: GraphQLField<unknown, unknown>, nodes: readonly FieldNode[]) =>
  planMembers<ResponseMember>(planner, field, nodes, (member, key, inner, innerNodes) =>
    member === 'affectedCount'
      ? { kind: 'affectedCount', key }
      : { kind: 'records', key, row: planner.row(planner, entity, planner.objectType(inner), innerNodes) },
  )

const encodingOf = (column: ColumnFacts): Encoding =>
  column.type?.list === true ? { kind: 'array', maxLength: null } : { kind: 'scalar', maxLength: column.maxLength }

function columnNamed(entity: EntityFacts, field: string): ColumnFacts {
  const column = entity.columns.find((candidate) => candidate.field === field)
  if (column === undefined) throw new Error(`${entity.name} has no column for ${field}`)
  return column
}

/** More parameters than this do not fit into one Bind message (PostgreSQL manual, frontend/backend protocol). */
const maxParameters = 60_000

function planRows(planner: Planner, entity: EntityFacts, input: Input): InsertRows {
  const items = input.kind === 'list' ? input.items : []
  const objects = items.flatMap((item) => (item.kind === 'object' ? [item] : []))
  if (objects.length === 0) throw badArgument('At least one record must be provided to objects')
  const names = [...new Set(objects.flatMap((object) => object.fields.map(([name]) => name)))]
  const columns = names.map((name) => columnNamed(entity, name))
  const uniform = objects.every((object) => object.fields.length === names.length)
  if (uniform && names.length > 0) {
    const members = columns.map((column, index) => ({ name: names[index] ?? '', maxLength: column.maxLength }))
    return {
      kind: 'uniform',
      columns: columns.map((column) => column.column),
      records: { slot: slotOf(input), encoding: { kind: 'records', members } },
    }
  }
  if (names.length * objects.length > maxParameters) {
    throw badArgument('Too many values: give every object the same fields, or send fewer objects')
  }
  // Nothing named: any column that may be written, so that all of them take their defaults.
  const used = columns.length > 0 ? columns : planner.visible.insertable(entity).slice(0, 1)
  return {
    kind: 'mixed',
    columns: used.map((column) => column.column),
    rows: objects.map((object) => {
      const fields = new Map(object.fields)
      return used.map((column): Value | null => {
        const value = fields.get(column.field ?? '')
        return value === undefined ? null : { slot: slotOf(value), encoding: encodingOf(column) }
      })
    }),
  }
}

function planSet(entity: EntityFacts, input: Input): readonly { readonly column: string; readonly value: Value }[] {
  const fields = input.kind === 'object' ? input.fields : []
  if (fields.length === 0) throw badArgument('At least one mapping must be provided to set argument')
  return fields.map(([name, value]) => {
    const column = columnNamed(entity, name)
    return { column: column.column, value: { slot: slotOf(value), encoding: encodingOf(column) } }
  })
}
