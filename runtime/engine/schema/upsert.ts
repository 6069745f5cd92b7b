import { GraphQLEnumType, GraphQLInputObjectType, GraphQLList, type GraphQLInputType } from 'graphql'
import { writtenEnum } from '../meaning.ts'
import { enumFields } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import type { InputField } from './related.ts'
import { nonNull, typeName, type MakePart } from './types.ts'

/** The treatment of existing rows on insert (`upsert`, spec/graphql.md 17). */

/** Undefined if the role can name no unique key. */
export const makeOnConflict: MakePart = (entity, types) => {
  const constraint = types.part(entity, 'constraint') as GraphQLEnumType | undefined
  if (constraint === undefined) return undefined
  const updateField = types.part(entity, 'updateField') as GraphQLEnumType | undefined
  const updates: readonly InputField[] =
    updateField === undefined
      ? []
      : [
          [
            'updateFields',
            {
              type: new GraphQLList(nonNull(updateField)),
              description:
                'What the row takes over from the one that was to be added. Default: nothing, it is left alone.',
            },
          ],
          [
            'filter',
            {
              type: types.part(entity, 'filter') as GraphQLInputType,
              description: 'Conditions that the row must meet to be changed. Default: none.',
            },
          ],
          ...Object.entries(types.rowArguments(entity)),
        ]
  return new GraphQLInputObjectType({
    name: typeName(entity, 'onConflict'),
    description:
      `What becomes of a row of ${entity.name} that has the key of one to be added. ` +
      'A row that is left alone is neither counted nor returned.',
    fields: Object.fromEntries([
      ['constraint', { type: nonNull(constraint), description: 'The unique key that tells which row is meant.' }],
      ...updates,
    ]),
  })
}

const enumOf = (name: string, description: string, values: readonly (readonly [string, string])[]) =>
  values.length === 0
    ? undefined
    : new GraphQLEnumType({
        name,
        description,
        extensions: writtenEnum,
        values: Object.fromEntries(values.map(([value, sql]) => [value, { value: sql }])),
      })

export const makeConstraint =
  (visible: RoleVisibility): MakePart =>
  (entity) =>
    enumOf(
      typeName(entity, 'constraint'),
      `The unique keys of ${entity.name}.`,
      visible.nameableKeys(entity).map(({ name }) => [name, name]),
    )

export const makeUpdateField =
  (visible: RoleVisibility): MakePart =>
  (entity) =>
    enumOf(
      typeName(entity, 'updateField'),
      `The fields of ${entity.name} that a row can take over.`,
      [...enumFields(visible.takeovers(entity))].map(([name, { column }]) => [name, column]),
    )
