import { GraphQLInputObjectType, GraphQLList, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { connectKeys, inserts, nestedRelations } from '../nested-inserts.ts'
import type { RoleVisibility } from '../view.ts'
import type { InputField } from './related.ts'
import { nonNull, typeName, type MakePart, type SchemaTypes } from './types.ts'

/** Related rows in an insert (`nestedWrites`, spec/graphql.md 17.6). */

export const nestedInputs = (visible: RoleVisibility, entity: EntityFacts, types: SchemaTypes): readonly InputField[] =>
  [...nestedRelations(visible, entity)].map(([name, { relation, target }]) => {
    const isForward = relation.direction === 'forward'
    const part = isForward ? 'parentInput' : relation.shape === 'many' ? 'childrenInput' : 'childInput'
    const description = isForward
      ? `The row of ${target.name} that it belongs to.`
      : `Rows of ${target.name} that are to belong to it.`
    return [name, { type: types.part(target, part) as GraphQLInputType, description }]
  })

export const insertInput = (entity: EntityFacts, types: SchemaTypes): GraphQLInputObjectType =>
  types.part(entity, 'insertInput') as GraphQLInputObjectType

/** One change per related row, unless arguments may accompany it. */
export const alternativesOfRow = (entity: EntityFacts, types: SchemaTypes): { readonly isOneOf?: true } =>
  Object.keys(types.insertArguments(entity)).length === 0 ? types.alternatives(entity) : {}

export const makeParentInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const isInserted = inserts(visible, entity)
    const key = types.part(entity, 'keyInput') as GraphQLInputObjectType | undefined
    if (!isInserted && key === undefined) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'parentInput'),
      ...alternativesOfRow(entity, types),
      description: `The row of ${entity.name} that a row belongs to: a new one, or one that is there.`,
      fields: () => ({
        ...(isInserted && { insert: { type: insertInput(entity, types), description: 'Adds it.' } }),
        ...(key && { connect: { type: key, description: 'Finds it by a key.' } }),
        ...(isInserted && types.insertArguments(entity)),
      }),
    })
  }

export const makeChildInput =
  (visible: RoleVisibility, part: 'childInput' | 'childrenInput'): MakePart =>
  (entity, types) =>
    inserts(visible, entity)
      ? new GraphQLInputObjectType({
          name: typeName(entity, part),
          description: `Rows of ${entity.name} that are to belong to a row.`,
          fields: () => {
            const input = insertInput(entity, types)
            const type = part === 'childInput' ? input : new GraphQLList(nonNull(input))
            return { insert: { type, description: 'Adds them.' }, ...types.insertArguments(entity) }
          },
        })
      : undefined

/** The columns of all keys; an object names those of one key. */
export const makeKeyInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const columns = connectKeys(visible, entity).flat()
    if (columns.length === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'keyInput'),
      description: `A key of ${entity.name}, all columns of it and no others.`,
      fields: () =>
        Object.fromEntries(
          columns.map(({ field, type }) => [field, { type: types.input(type), description: `The row's ${field}.` }]),
        ),
    })
  }
