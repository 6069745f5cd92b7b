import {
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputType,
  type GraphQLNonNull,
} from 'graphql'
import type { RowKey } from '../../contract/lookups.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { rootField } from '../../contract/name-parts.ts'
import { requiredInput } from '../../contract/required-input.ts'
import type { RoleVisibility } from '../view.ts'
import type { InputField } from './related.ts'
import { scalars } from './scalars.ts'
import {
  field,
  listOf,
  nonNull,
  shown,
  typeName,
  wrapperFields,
  type SchemaField,
  type MakePart,
  type SchemaTypes,
} from './types.ts'

/** Insert, update and delete (spec/graphql.md 10.1). A mutation whose input would have no field does not exist. */

declare module '../additions.ts' {
  interface SchemaAddition {
    /** Further fields of the objects that an insert takes. */
    readonly insertFields?: (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes) => readonly InputField[]
    /** Whether an insert may lack a required column, because another row may give its value. */
    readonly mayLack?: (visible: RoleVisibility, entity: EntityFacts, column: ColumnFacts) => boolean
    /** Further arguments of an update. @param key that of its row; absent: a filter chooses its rows */
    readonly changeArguments?: (...of: Parameters<typeof changeArguments>) => GraphQLFieldConfigArgumentMap
    /** How several rows of the relation are changed by their key; undefined: they are not. */
    readonly rowChanges?: (visible: RoleVisibility, entity: EntityFacts) => RowChanges | undefined
  }
}

interface RowChanges {
  /** Null: the role cannot name it. */
  readonly key: RowKey | null
  /** Of one of them, with that key. */
  readonly input: (types: SchemaTypes) => GraphQLInputObjectType
}

export const rowChanges = (visible: RoleVisibility, entity: EntityFacts): RowChanges | undefined =>
  visible.additions.map((one) => one.rowChanges?.(visible, entity)).find((one) => one !== undefined)

/** `set`, which is optional if there is another argument, and these. */
export function changeArguments(
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  key?: RowKey,
): GraphQLFieldConfigArgumentMap {
  const set = types.part(entity, 'updateInput') as GraphQLInputObjectType
  const others: GraphQLFieldConfigArgumentMap = Object.assign(
    {},
    ...visible.additions.map((one) => one.changeArguments?.(visible, entity, types, key)),
  )
  return {
    set: {
      type: Object.keys(others).length === 0 ? nonNull(set) : set,
      description: 'The values to set; columns that are not named keep theirs.',
    },
    ...others,
  }
}

const makeInput =
  (
    visible: RoleVisibility,
    part: 'insertInput' | 'updateInput',
    columns: (entity: EntityFacts) => readonly ColumnFacts[],
    help: string,
  ): MakePart =>
  (entity, types) => {
    const isInsert = part === 'insertInput'
    const isRequired = (column: ColumnFacts): boolean =>
      isInsert && column.required === true && !visible.additions.some((one) => one.mayLack?.(visible, entity, column))
    const inputs = columns(entity)
    if (inputs.length === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, part),
      description: `${help} of ${entity.name}.`,
      fields: () =>
        Object.fromEntries([
          ...inputs.map((column) => {
            const { name, type } = shown(column)
            const extensions = isRequired(column) ? { extensions: requiredInput } : {}
            const description = column.description ?? `The value of ${name}.`
            return [name, { type: types.input(type), description, ...extensions }] as const
          }),
          ...(isInsert ? visible.additions.flatMap((one) => one.insertFields?.(visible, entity, types) ?? []) : []),
        ]),
    })
  }

export const makeInsertInput = (visible: RoleVisibility): MakePart =>
  makeInput(visible, 'insertInput', visible.insertable, 'Values for a new row')
export const makeUpdateInput = (visible: RoleVisibility): MakePart =>
  makeInput(visible, 'updateInput', visible.updatable, 'New values for existing rows')

export const makeResponse =
  (visible: RoleVisibility, part: 'insertResponse' | 'updateResponse' | 'deleteResponse', past: string): MakePart =>
  (entity, types) =>
    new GraphQLObjectType({
      name: typeName(entity, part),
      description: `The rows of ${entity.name} that were ${past}.`,
      fields: () =>
        wrapperFields({
          affectedCount: [nonNull(scalars.Int), `How many rows were ${past}.`],
          ...(visible.isExposed(entity) && { records: [listOf(types.row(entity)), `The rows that were ${past}.`] }),
        }),
    })

type Makers = readonly (readonly [name: string, make: () => SchemaField])[]

export const insertMakers = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): Makers =>
  visible.insertable(entity).length === 0
    ? []
    : [[rootField('insert', entity.name), () => insertField(visible, entity, types)]]

/** The mutations of one relation, as far as the role's privileges allow. */
export function writeMakers(visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): Makers {
  const { name } = entity
  return [
    ...insertMakers(visible, entity, types),
    ...(visible.updatable(entity).length === 0
      ? []
      : [[rootField('update', name), () => updateField(visible, entity, types)] as const]),
    ...(visible.deletes(entity) ? [[rootField('delete', name), () => deleteField(entity, types)] as const] : []),
  ]
}

const input = (entity: EntityFacts, types: SchemaTypes): GraphQLInputObjectType =>
  types.part(entity, 'insertInput') as GraphQLInputObjectType

const response = (
  entity: EntityFacts,
  part: 'insertResponse' | 'updateResponse' | 'deleteResponse',
  types: SchemaTypes,
): GraphQLObjectType => types.part(entity, part) as GraphQLObjectType

function insertField(visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): SchemaField {
  return field(response(entity, 'insertResponse', types), { kind: 'insert', entity }, `Adds rows to ${entity.name}.`, {
    objects: { type: nonNull(new GraphQLList(nonNull(input(entity, types)))), description: 'The rows to add.' },
    // Existing rows are read.
    ...(visible.isExposed(entity) && types.insertArguments(entity)),
  })
}

export const changedRows = (entity: EntityFacts, types: SchemaTypes): GraphQLNonNull<GraphQLObjectType> =>
  nonNull(response(entity, 'updateResponse', types))

const updateField = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): SchemaField =>
  field(changedRows(entity, types), { kind: 'update', entity }, `Changes rows of ${entity.name}.`, {
    ...changeArguments(visible, entity, types),
    ...bounds(entity, types),
    ...types.rowArguments(entity),
  })

const deleteField = (entity: EntityFacts, types: SchemaTypes): SchemaField =>
  field(
    nonNull(response(entity, 'deleteResponse', types)),
    { kind: 'delete', entity },
    `Removes rows from ${entity.name}.`,
    bounds(entity, types),
  )

const bounds = (entity: EntityFacts, types: SchemaTypes): NonNullable<SchemaField['args']> => ({
  filter: {
    type: types.part(entity, 'filter') as GraphQLInputType,
    description: 'Conditions that the rows must meet. Default: none, so that every row is meant.',
  },
  atMost,
})

export const atMost = {
  type: nonNull(scalars.Int),
  defaultValue: 1,
  description: 'How many rows may be affected; when there are more, nothing is done and the request fails. Default 1.',
}
