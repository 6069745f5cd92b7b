import { GraphQLInputObjectType, GraphQLList, type GraphQLFieldConfigArgumentMap, type GraphQLInputType } from 'graphql'
import type { RowKey } from '../../../runtime/contract/lookups.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import type { InputField } from '../../../runtime/engine/schema/related.ts'
import { nonNull, type MakePart, type SchemaTypes } from '../../../runtime/engine/schema/types.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { parts } from './facts.ts'
import { countInserted, planInsert } from './plan.ts'
import { countRelated, planRowUpdate } from './plan-updates.ts'
import { argumentName, connectKeys, inserts, isLinked, nestedRelations, takesRelated } from './schema-relations.ts'
import { alternativesOfRow, insertInput, makeRelatedInput, relatedChangeMakers } from './schema-updates.ts'
import { writeRoot } from './statements.ts'

/** Related rows in an insert (`nestedWrites`, spec/graphql.md 17.6). */

const nestedInputs = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): readonly InputField[] =>
  [...nestedRelations(visible, entity)].map(([name, { relation, target }]) => {
    const isForward = relation.direction === 'forward'
    const part = isForward ? 'parentInput' : relation.shape === 'many' ? 'childrenInput' : 'childInput'
    const description = isForward
      ? `The row of ${target.name} that it belongs to.`
      : `Rows of ${target.name} that are to belong to it.`
    return [name, { type: types.part(target, part) as GraphQLInputType, description }]
  })

const makeParentInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const isInserted = inserts(visible, entity)
    const key = types.part(entity, 'keyInput') as GraphQLInputObjectType | undefined
    if (!isInserted && key === undefined) return undefined
    return new GraphQLInputObjectType({
      name: entity.name + parts.parentInput,
      ...alternativesOfRow(entity, types),
      description: `The row of ${entity.name} that a row belongs to: a new one, or one that is there.`,
      fields: () => ({
        ...(isInserted && { insert: { type: insertInput(entity, types), description: 'Adds it.' } }),
        ...(key && { connect: { type: key, description: 'Finds it by a key.' } }),
        ...(isInserted && types.insertArguments(entity)),
      }),
    })
  }

const makeChildInput =
  (visible: RoleVisibility, part: 'childInput' | 'childrenInput'): MakePart =>
  (entity, types) =>
    inserts(visible, entity)
      ? new GraphQLInputObjectType({
          name: entity.name + parts[part],
          description: `Rows of ${entity.name} that are to belong to a row.`,
          fields: () => {
            const input = insertInput(entity, types)
            const type = part === 'childInput' ? input : new GraphQLList(nonNull(input))
            return { insert: { type, description: 'Adds them.' }, ...types.insertArguments(entity) }
          },
        })
      : undefined

/** The columns of all keys; an object names those of one key. */
const makeKeyInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const columns = connectKeys(visible, entity).flat()
    if (columns.length === 0) return undefined
    return new GraphQLInputObjectType({
      name: entity.name + parts.keyInput,
      description: `A key of ${entity.name}, all columns of it and no others.`,
      fields: () =>
        Object.fromEntries(
          columns.map(({ field, type }) => [field, { type: types.input(type), description: `The row's ${field}.` }]),
        ),
    })
  }

function relatedArgument(
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  key?: RowKey,
): GraphQLFieldConfigArgumentMap {
  if (key === undefined || !takesRelated(visible, entity, key)) return {}
  const type = types.part(entity, 'relatedInput') as GraphQLInputObjectType
  return { [argumentName]: { type, description: 'What is to become of the rows that are related to it.' } }
}

export const nestedWrites: SchemaAddition = {
  name: 'nestedWrites',
  parts,
  makers: (visible) => ({
    keyInput: makeKeyInput(visible),
    parentInput: makeParentInput(visible),
    childInput: makeChildInput(visible, 'childInput'),
    childrenInput: makeChildInput(visible, 'childrenInput'),
    relatedInput: makeRelatedInput(visible),
    ...relatedChangeMakers(visible),
  }),
  insertFields: nestedInputs,
  mayLack: isLinked,
  changeArguments: relatedArgument,
  planInsert,
  planRowUpdate,
  namedRows: (visible, meaning) => {
    if (meaning.kind === 'insert') return countInserted(visible, meaning.entity)
    return meaning.kind === 'update-row' ? countRelated(visible, meaning.entity, meaning.key) : undefined
  },
  writeRoot,
}
