import { GraphQLInputObjectType, GraphQLList, GraphQLObjectType, type GraphQLInputType } from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { Visible } from '../view.ts'
import { scalars } from './scalars.ts'
import { field, listOf, nonNull, shown, typeName, type Fields, type MakePart, type Types } from './types.ts'

/** Insert, update and delete (spec/graphql.md 10.1). A mutation whose input would have no field does not exist. */

const makeInput =
  (part: 'insertInput' | 'updateInput', columns: (entity: EntityFacts) => readonly ColumnFacts[], help: string): MakePart =>
  (entity, types) => {
    const inputs = columns(entity)
    if (inputs.length === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, part),
      description: `${help} of ${entity.name}.`,
      fields: () =>
        Object.fromEntries(
          inputs.map((column) => {
            const { name, type } = shown(column)
            return [name, { type: types.input(type), description: column.description ?? `The value of ${name}.` }]
          }),
        ),
    })
  }

export const makeInsertInput = (visible: Visible): MakePart => makeInput('insertInput', visible.insertable, 'Values for a new row')
export const makeUpdateInput = (visible: Visible): MakePart =>
  makeInput('updateInput', visible.updatable, 'New values for existing rows')

export const makeResponse =
  (part: 'insertResponse' | 'updateResponse' | 'deleteResponse', past: string): MakePart =>
  (entity, types) =>
    new GraphQLObjectType({
      name: typeName(entity, part),
      description: `The rows of ${entity.name} that were ${past}.`,
      fields: () => ({
        affectedCount: field(nonNull(scalars.Int), { kind: 'member', member: 'affectedCount' }, `How many rows were ${past}.`),
        records: field(listOf(types.row(entity)), { kind: 'member', member: 'records' }, `The rows that were ${past}.`),
      }),
    })

/** The mutations of one relation, as far as the role's privileges go. */
export function writeFields(visible: Visible, entity: EntityFacts, types: Types): Fields {
  const response = (part: 'insertResponse' | 'updateResponse' | 'deleteResponse') => types.part(entity, part) as GraphQLObjectType
  const insertInput = types.part(entity, 'insertInput') as GraphQLInputObjectType | undefined
  const updateInput = types.part(entity, 'updateInput') as GraphQLInputObjectType | undefined
  const filter = {
    type: types.part(entity, 'filter') as GraphQLInputType,
    description: 'Conditions that the rows must meet. Default: none, so that every row is meant.',
  }
  const atMost = {
    type: nonNull(scalars.Int),
    defaultValue: 1,
    description: 'How many rows may be affected; when there are more, nothing is done and the request fails. Default 1.',
  }
  return {
    ...(insertInput && {
      [`insertInto${entity.name}Collection`]: field(
        response('insertResponse'),
        { kind: 'insert', entity },
        `Adds rows to ${entity.name}.`,
        { objects: { type: nonNull(new GraphQLList(nonNull(insertInput))), description: 'The rows to add.' } },
      ),
    }),
    ...(updateInput && {
      [`update${entity.name}Collection`]: field(
        nonNull(response('updateResponse')),
        { kind: 'update', entity },
        `Changes rows of ${entity.name}.`,
        { set: { type: nonNull(updateInput), description: 'The values to set; columns that are not named keep theirs.' }, filter, atMost },
      ),
    }),
    ...(visible.can(entity.grants.delete) && {
      [`deleteFrom${entity.name}Collection`]: field(
        nonNull(response('deleteResponse')),
        { kind: 'delete', entity },
        `Removes rows from ${entity.name}.`,
        { filter, atMost },
      ),
    }),
  }
}
