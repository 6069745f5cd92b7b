import { GraphQLInputObjectType, GraphQLList, type GraphQLFieldConfigArgumentMap, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { rootField } from '../../contract/name-parts.ts'
import { changeOperator, changeOperators, type ChangeOperatorName } from '../../sql/change-operators.ts'
import type { LookupColumn, RowKey } from '../../contract/lookups.ts'
import { changeable, rowKey, standsBesideSet, usableKeys, usableOperators } from '../changes.ts'
import { takesRelated } from '../related-change-facts.ts'
import type { RoleVisibility } from '../view.ts'
import { scalars } from './scalars.ts'
import {
  besideKey,
  field,
  nonNull,
  shown,
  typeName,
  type MakePart,
  type SchemaField,
  type SchemaTypes,
} from './types.ts'

/** Updates by key, of many rows, and by operators (`updates`, spec/graphql.md 17.4). */

const at = {
  type: nonNull(new GraphQLList(nonNull(scalars.String))),
  description: 'Keys, and positions of elements from 0 on; negative ones count from the end.',
}
const setKey = new GraphQLInputObjectType({
  name: 'JSONSetKey',
  description: 'A place in a JSON value, and what is put there.',
  fields: { at, value: { type: nonNull(scalars.JSON), description: 'What is put there, as JSON.' } },
})
const unsetKey = new GraphQLInputObjectType({
  name: 'JSONUnsetKey',
  description: 'A place in a JSON value.',
  fields: { at },
})

/** Types of operands that do not depend on the database; only with `updates`. */
export const updateTypes = [setKey, unsetKey] as const

const steps: Readonly<Partial<Record<ChangeOperatorName, GraphQLInputType>>> = {
  setKey: new GraphQLList(nonNull(setKey)),
  unsetKey: new GraphQLList(nonNull(unsetKey)),
}

/** The operand of an operator for each column; undefined if no column takes it. */
const makeOperatorInput =
  (visible: RoleVisibility, operator: ChangeOperatorName): MakePart =>
  (entity, types) => {
    const columns = [...changeable(visible, entity, operator)]
    if (columns.length === 0) return undefined
    const { help } = changeOperator(operator)
    return new GraphQLInputObjectType({
      name: typeName(entity, operator),
      description: `${help} By fields of ${entity.name}.`,
      fields: () =>
        Object.fromEntries(
          columns.map(([name, column]) => [
            name,
            { type: steps[operator] ?? types.input(shown(column).type), description: `For ${name}.` },
          ]),
        ),
    })
  }

export const operatorMakers = (visible: RoleVisibility): Readonly<Record<ChangeOperatorName, MakePart>> =>
  Object.fromEntries(
    Object.keys(changeOperators).map((name) => [name, makeOperatorInput(visible, name as ChangeOperatorName)]),
  ) as Readonly<Record<ChangeOperatorName, MakePart>>

/**
 * `set` and the operators; `set` is optional if there is an operator.
 * @param others whether there are further changes
 */
export function changeArguments(
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  others = false,
): GraphQLFieldConfigArgumentMap {
  const set = types.part(entity, 'updateInput') as GraphQLInputObjectType
  const operators = usableOperators(visible, entity).map((name) => [
    name,
    { type: types.part(entity, name) as GraphQLInputObjectType, description: changeOperator(name).help },
  ])
  return {
    set: {
      type: operators.length === 0 && !others ? nonNull(set) : set,
      description: 'The values to set; columns that are not named keep theirs.',
    },
    ...Object.fromEntries(operators),
  }
}

const keyArguments = (key: readonly LookupColumn[], types: SchemaTypes): GraphQLFieldConfigArgumentMap =>
  Object.fromEntries(
    key.map(({ field: name, type }) => [name, { type: nonNull(types.input(type)), description: `The row's ${name}.` }]),
  )

export const makeRowInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const key = rowKey(visible, entity)
    const set = types.part(entity, 'updateInput') as GraphQLInputObjectType | undefined
    if (key === null || set === undefined) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'rowInput'),
      description: `New values for the row of ${entity.name} with this key.`,
      fields: () => ({
        ...keyArguments(key.columns, types),
        set: { type: nonNull(set), description: 'The values to set; columns that are not named keep theirs.' },
      }),
    })
  }

export type Makers = readonly (readonly [name: string, make: () => SchemaField])[]

/** The fields of `updates`, as far as the role's privileges allow. */
export function changeMakers(
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  rowsField: (meaning: RowKey) => SchemaField,
): Makers {
  const keys = usableKeys(visible, entity)
  const updates = visible.updatable(entity).length > 0
  const deletes = visible.deletes(entity)
  const primary = updates ? rowKey(visible, entity) : null
  const ofKey = (key: RowKey): Makers => [
    ...(updates && standsBesideSet(key)
      ? [[key.update, () => updateRowField(visible, entity, key, types)] as const]
      : []),
    ...(deletes ? [[key.delete, () => deleteRowField(entity, key, types)] as const] : []),
  ]
  return [
    ...keys.filter(({ isPrimary }) => isPrimary).flatMap(ofKey),
    ...(primary === null ? [] : [[rootField('updateRows', entity.name), () => rowsField(primary)] as const]),
    ...keys.filter(({ isPrimary }) => !isPrimary).flatMap(ofKey),
  ]
}

function updateRowField(visible: RoleVisibility, entity: EntityFacts, key: RowKey, types: SchemaTypes): SchemaField {
  const related = takesRelated(visible, entity, key)
  return field(
    types.row(entity),
    { kind: 'update-row', entity, key },
    `Changes the row of ${entity.name} with this key; null when there is none that you may see and change.`,
    {
      ...besideKey(entity, keyArguments(key.columns, types), types),
      ...changeArguments(visible, entity, types, related),
      ...(related && {
        related: {
          type: types.part(entity, 'relatedInput') as GraphQLInputObjectType,
          description: 'What is to become of the rows that are related to it.',
        },
      }),
    },
  )
}

const deleteRowField = (entity: EntityFacts, key: RowKey, types: SchemaTypes): SchemaField =>
  field(
    types.row(entity),
    { kind: 'delete-row', entity, key },
    `Removes the row of ${entity.name} with this key and answers it; null when there is none that you may see and remove.`,
    keyArguments(key.columns, types),
  )
