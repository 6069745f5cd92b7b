import { GraphQLEnumType, GraphQLInputObjectType, GraphQLList, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { writtenEnum } from '../../../runtime/engine/meaning.ts'
import { enumFields } from '../../../runtime/engine/related.ts'
import type { InputField } from '../../../runtime/engine/schema/related.ts'
import { nonNull, type MakePart } from '../../../runtime/engine/schema/types.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { byField } from '../../../runtime/engine/visible.ts'
import { parts, type UniqueKeyFacts } from './facts.ts'
import { planConflict } from './plan.ts'

/** Keys that an insert gives all values of; Postgres reads them. */
function nameableKeys(visible: RoleVisibility, entity: EntityFacts): readonly UniqueKeyFacts[] {
  const { uniqueKeys = [], columns: all, grants } = entity
  const written = [...byField(visible.insertable(entity)).values(), ...visible.presets(entity, 'insert')]
  const given = new Set(written.map(({ column }) => column))
  const isRead = (name: string): boolean => all.some((one) => one.column === name && visible.readsColumn(entity, one))
  return uniqueKeys.filter(
    ({ columns, generated = [], whole }) =>
      (visible.can(grants.select) || (!whole && columns.every(isRead))) &&
      columns.every((name) => given.has(name) || generated.includes(name)),
  )
}

/** Undefined if the role can name no unique key. */
const makeOnConflict: MakePart = (entity, types) => {
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
    name: entity.name + parts.onConflict,
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

const makeConstraint =
  (visible: RoleVisibility): MakePart =>
  (entity) =>
    enumOf(
      entity.name + parts.constraint,
      `The unique keys of ${entity.name}.`,
      nameableKeys(visible, entity).map(({ name }) => [name, name]),
    )

const makeUpdateField =
  (visible: RoleVisibility): MakePart =>
  (entity) =>
    enumOf(
      entity.name + parts.updateField,
      `The fields of ${entity.name} that a row can take over.`,
      [...enumFields(visible.takeovers(entity))].map(([name, { column }]) => [name, column]),
    )

export const upsert: SchemaAddition = {
  name: 'upsert',
  parts,
  makers: (visible) => ({
    onConflict: makeOnConflict,
    constraint: makeConstraint(visible),
    updateField: makeUpdateField(visible),
  }),
  insertArguments: (entity, types) => {
    const type = types.part(entity, 'onConflict') as GraphQLInputObjectType | undefined
    return type ? { onConflict: { type, description: 'What to do where such a row is there already.' } } : {}
  },
  planConflict,
}
