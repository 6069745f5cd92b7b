import { GraphQLInputObjectType, GraphQLList, GraphQLObjectType, type GraphQLInputType } from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { rootField } from '../../contract/name-parts.ts'
import { requiredInput } from '../../contract/required-input.ts'
import type { RoleVisibility } from '../view.ts'
import type { RowKey } from '../../contract/lookups.ts'
import { isLinked } from '../nested-inserts.ts'
import { nestedInputs } from './nested.ts'
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
import { changeArguments, changeMakers, type Makers } from './updates.ts'

/** Insert, update and delete (spec/graphql.md 10.1). A mutation whose input would have no field does not exist. */

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
      isInsert && column.required === true && !isLinked(visible, entity, column)
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
          ...(isInsert ? nestedInputs(visible, entity, types) : []),
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

/** The mutations of `updates`; the first of a name is used. */
export const changeMakersOf = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): Makers =>
  changeMakers(visible, entity, types, (key) => rowsField(entity, key, types))

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

const updateField = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): SchemaField =>
  field(
    nonNull(response(entity, 'updateResponse', types)),
    { kind: 'update', entity },
    `Changes rows of ${entity.name}.`,
    { ...changeArguments(visible, entity, types), ...bounds(entity, types), ...types.rowArguments(entity) },
  )

const rowsField = (entity: EntityFacts, key: RowKey, types: SchemaTypes): SchemaField =>
  field(
    nonNull(response(entity, 'updateResponse', types)),
    { kind: 'update-rows', entity, key },
    `Changes rows of ${entity.name}, each in a way of its own.`,
    {
      rows: {
        type: nonNull(new GraphQLList(nonNull(types.part(entity, 'rowInput') as GraphQLInputObjectType))),
        description: 'The keys of the rows to change, each at most once, with their new values.',
      },
      atMost,
      ...types.rowArguments(entity),
    },
  )

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

const atMost = {
  type: nonNull(scalars.Int),
  defaultValue: 1,
  description: 'How many rows may be affected; when there are more, nothing is done and the request fails. Default 1.',
}
