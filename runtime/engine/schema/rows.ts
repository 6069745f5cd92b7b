import { GraphQLUnionType, parseValue, valueFromASTUntyped, type GraphQLOutputType } from 'graphql'
import type {
  ArgumentFacts,
  ColumnFacts,
  EntityFacts,
  FunctionFacts,
  RelationFacts,
  UnionFacts,
} from '../../contract/manifest.ts'
import { lowerFirst } from '../../contract/name-parts.ts'
import { unionRelations, type Related } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import { collectionArguments } from './collections.ts'
import { interfacesOf } from './interfaces.ts'
import {
  LazyObjectType,
  type FieldMakers,
  field,
  nonNull,
  shown,
  type SchemaField,
  type MakePart,
  type SchemaTypes,
} from './types.ts'
import { scalars } from './scalars.ts'

/**
 * Row types: node id, columns, relations, computed fields; of equal names the later of these wins (spec/graphql.md
 * 2.4). Relations declared by comments take free names, and unions after them.
 */
export const makeRow =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    new LazyObjectType(
      entity.name,
      entity.description ?? `A row of ${entity.name}.`,
      () => fieldsOf(rowMakers(visible, entity, types)),
      () => (visible.isExposed(entity) ? [types.node, ...interfacesOf(visible, entity, types)] : []),
    )

declare module '../additions.ts' {
  interface SchemaAddition {
    /** Further fields of rows, under names that are free. */
    readonly rowFields?: (
      visible: RoleVisibility,
      entity: EntityFacts,
    ) => readonly (readonly [name: string, make: () => SchemaField])[]
  }
}

const fieldsOf = (makers: ReadonlyMap<string, () => SchemaField>): FieldMakers => ({
  find: (name) => makers.get(name),
  names: () => [...makers.keys()],
})

function rowMakers(
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
): ReadonlyMap<string, () => SchemaField> {
  const fields = new Map<string, () => SchemaField>()
  const put = (name: string, make: () => SchemaField): void => {
    fields.delete(name)
    fields.set(name, make)
  }
  if (visible.isExposed(entity)) put('nodeId', nodeIdField)
  for (const column of entity.columns.filter((candidate) => visible.seesColumn(entity, candidate)))
    put(shown(column).name, () => columnField(column, types))
  const relations = entity.relations.filter((candidate) => visible.seesRelation(entity, candidate))
  const leadBy = (relation: RelationFacts): void => {
    const target = visible.entity(relation.target)
    if (target !== undefined) put(relation.field, () => relationField(relation, target, types))
  }
  for (const relation of relations) if (relation.way === undefined) leadBy(relation)
  for (const fn of entity.computed.filter((candidate) => visible.seesComputed(entity, candidate)))
    put(fn.field, () => computedField(visible, fn, types))
  for (const relation of relations) if (relation.way !== undefined && !fields.has(relation.field)) leadBy(relation)
  for (const union of entity.unions ?? []) {
    const of = visible.names.ownsUnion(union) ? unionRelations(visible, entity, union) : []
    if (of.length > 0 && !fields.has(union.field)) put(union.field, () => unionField(union, of, types))
  }
  for (const [name, make] of visible.additions.flatMap((one) => one.rowFields?.(visible, entity) ?? []))
    if (!fields.has(name)) put(name, make)
  return fields
}

const nodeIdField = (): SchemaField =>
  field(nonNull(scalars.ID), { kind: 'node-id' }, 'Identifies the row among all rows of all tables.')

function columnField(column: ColumnFacts, types: SchemaTypes): SchemaField {
  const { name, type } = shown(column)
  const output = types.output(type)
  const described = field(
    column.notNull ? nonNull(output) : output,
    { kind: 'column', column: column.column },
    column.description ?? `The value of ${name}.`,
  )
  return column.deprecated === undefined ? described : { ...described, deprecationReason: column.deprecated }
}

function relationField(relation: RelationFacts, target: EntityFacts, types: SchemaTypes): SchemaField {
  const meaning = { kind: 'relation', relation, target } as const
  if (relation.shape === 'many') {
    const description =
      relation.way === undefined
        ? `The rows of ${target.name} that belong to this row.`
        : `The rows of ${target.name} that this row is connected with.`
    return field(types.connection(target), meaning, description, collectionArguments(target, types))
  }
  const type = types.row(target)
  const output = relation.notNull ? nonNull(type) : type
  return field(output, meaning, `The related row of ${target.name}.`, types.rowArguments(target))
}

function unionField({ type: name }: UnionFacts, of: readonly Related[], types: SchemaTypes): SchemaField {
  const targets = [...new Map(of.map(({ target }) => [target.name, target] as const))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const description = `A row of ${targets.map(([target]) => target).join(' or ')}.`
  const type = new GraphQLUnionType({ name, description, types: () => targets.map(([, target]) => types.row(target)) })
  const args = Object.assign({}, ...targets.map(([, target]) => types.rowArguments(target)))
  return field(type, { kind: 'union', of }, `The related row, ${lowerFirst(description)}`, args)
}

function computedField(visible: RoleVisibility, fn: FunctionFacts, types: SchemaTypes): SchemaField {
  const { type, args } = functionResult(visible, fn, types)
  return field(type, { kind: 'computed', function: fn }, fn.description ?? `Computed by ${fn.field}.`, args)
}

export function functionResult(
  visible: RoleVisibility,
  fn: FunctionFacts,
  types: SchemaTypes,
): { readonly type: GraphQLOutputType; readonly args: NonNullable<SchemaField['args']> } {
  const { result } = fn
  const own = Object.fromEntries(fn.args.map((argument) => [argument.field, ownArgument(argument, types)]))
  if (result.kind === 'void') return { type: scalars.Opaque, args: own }
  if (result.kind === 'value') return { type: types.output(result.type), args: own }
  const target = visible.entity(result.entity)
  if (target === undefined) throw new Error(`the result of ${fn.id} is not in the manifest`)
  return result.kind === 'row'
    ? { type: types.row(target), args: own }
    : { type: types.connection(target), args: { ...own, ...collectionArguments(target, types) } }
}

function ownArgument(argument: ArgumentFacts, types: SchemaTypes): NonNullable<SchemaField['args']>[string] {
  const type = types.input(argument.type)
  const taken = argument.databaseDefault === undefined ? '' : ` Default: ${argument.databaseDefault}`
  const base = {
    type: argument.required ? nonNull(type) : type,
    description: `The argument ${argument.field}.${taken}`,
  }
  if (argument.defaultValue === null) return base
  return { ...base, defaultValue: valueFromASTUntyped(parseValue(argument.defaultValue)) }
}
