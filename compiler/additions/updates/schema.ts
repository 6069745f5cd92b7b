import { GraphQLInputObjectType, GraphQLList, type GraphQLFieldConfigArgumentMap, type GraphQLInputType } from 'graphql'
import type { LookupColumn, RowKey } from '../../../runtime/contract/lookups.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { rootField } from '../../../runtime/contract/name-parts.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { scalars } from '../../../runtime/engine/schema/scalars.ts'
import {
  besideKey,
  field,
  nonNull,
  shown,
  type MakePart,
  type SchemaField,
  type SchemaTypes,
} from '../../../runtime/engine/schema/types.ts'
import { atMost, changeArguments, changedRows } from '../../../runtime/engine/schema/writes.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { changeOperator, changeOperatorNames, type ChangeOperatorName } from '../../../runtime/sql/change-operators.ts'
import { basesOfChange, parts, rowKeysOf } from './facts.ts'
import { changeable, planKeyed, planOperators, usableOperators } from './plan.ts'
import { writeRoot } from './statements.ts'

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
      name: entity.name + parts[operator],
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

const operatorArguments = (
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
): GraphQLFieldConfigArgumentMap =>
  Object.fromEntries(
    usableOperators(visible, entity).map((name) => [
      name,
      { type: types.part(entity, name) as GraphQLInputObjectType, description: changeOperator(name).help },
    ]),
  )

const reserved: ReadonlySet<string> = new Set(['set', ...changeOperatorNames])

/** Whether an update can name the key besides its set. */
const standsBesideSet = ({ columns }: RowKey): boolean => columns.every(({ field }) => !reserved.has(field))

/** The keys by which the role can change rows, the primary one first. */
const usableKeys = (visible: RoleVisibility, entity: EntityFacts): readonly RowKey[] =>
  rowKeysOf(entity).filter(({ columns }) => columns.every(({ column }) => visible.findsBy(entity, column)))

/** The key that identifies one row of many; null: none. */
const rowKey = (visible: RoleVisibility, entity: EntityFacts): RowKey | null =>
  usableKeys(visible, entity).find((key) => key.isPrimary && standsBesideSet(key)) ?? null

const keyArguments = (key: readonly LookupColumn[], types: SchemaTypes): GraphQLFieldConfigArgumentMap =>
  Object.fromEntries(
    key.map(({ field: name, type }) => [name, { type: nonNull(types.input(type)), description: `The row's ${name}.` }]),
  )

const makeRowInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const key = rowKey(visible, entity)
    const set = types.part(entity, 'updateInput') as GraphQLInputObjectType | undefined
    if (key === null || set === undefined) return undefined
    return new GraphQLInputObjectType({
      name: entity.name + parts.rowInput,
      description: `New values for the row of ${entity.name} with this key.`,
      fields: () => ({
        ...keyArguments(key.columns, types),
        set: { type: nonNull(set), description: 'The values to set; columns that are not named keep theirs.' },
      }),
    })
  }

type Makers = readonly (readonly [name: string, make: () => SchemaField])[]

/** The fields of a relation, as far as the role's privileges allow. */
function changeMakers(visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): Makers {
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
    ...(primary === null
      ? []
      : [[rootField('updateRows', entity.name), () => rowsField(entity, primary, types)] as const]),
    ...keys.filter(({ isPrimary }) => !isPrimary).flatMap(ofKey),
  ]
}

const rowsField = (entity: EntityFacts, key: RowKey, types: SchemaTypes): SchemaField =>
  field(
    changedRows(entity, types),
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

function updateRowField(visible: RoleVisibility, entity: EntityFacts, key: RowKey, types: SchemaTypes): SchemaField {
  return field(
    types.row(entity),
    { kind: 'update-row', entity, key },
    `Changes the row of ${entity.name} with this key; null when there is none that you may see and change.`,
    {
      ...besideKey(entity, keyArguments(key.columns, types), types),
      ...changeArguments(visible, entity, types, key),
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

export const updates: SchemaAddition = {
  name: 'updates',
  parts,
  types: [setKey, unsetKey],
  makers: (visible) => ({
    rowInput: makeRowInput(visible),
    ...Object.fromEntries(changeOperatorNames.map((name) => [name, makeOperatorInput(visible, name)])),
  }),
  mutationFields: (visible, types, { entitiesNamed, entities }) => {
    // The first of a name is used.
    const changesOf = (entity: EntityFacts): ReadonlyMap<string, () => SchemaField> =>
      new Map(changeMakers(visible, entity, types).toReversed())
    return {
      find: (name) =>
        entitiesNamed(basesOfChange(name))
          .map((entity) => changesOf(entity).get(name))
          .find((make) => make !== undefined),
      names: () => entities().flatMap((entity) => [...changesOf(entity).keys()]),
    }
  },
  changeArguments: operatorArguments,
  rowChanges: (visible, entity) =>
    entity.updates === true
      ? {
          key: rowKey(visible, entity),
          input: (types) => types.part(entity, 'rowInput') as GraphQLInputObjectType,
        }
      : undefined,
  planOperators,
  planKeyed,
  writeRoot,
}
