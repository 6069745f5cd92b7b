import { GraphQLInputObjectType, GraphQLList, type GraphQLInputFieldConfig, type GraphQLInputType } from 'graphql'
import { changeForms, changeParts, parts, type ChangePart } from './facts.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { changeMembers, relatedChanges, type ChangeMember } from './schema-relations.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { rowChanges } from '../../../runtime/engine/schema/writes.ts'
import { scalars } from '../../../runtime/engine/schema/scalars.ts'
import { nonNull, type MakePart, type SchemaTypes } from '../../../runtime/engine/schema/types.ts'

export const insertInput = (entity: EntityFacts, types: SchemaTypes): GraphQLInputObjectType =>
  types.part(entity, 'insertInput') as GraphQLInputObjectType

/** One change per related row, unless arguments may accompany it. */
export const alternativesOfRow = (entity: EntityFacts, types: SchemaTypes): { readonly isOneOf?: true } =>
  Object.keys(types.insertArguments(entity)).length === 0 ? types.alternatives(entity) : {}

/** Related rows in an update by key (`nestedWrites` with `updates`, spec/graphql.md 17.6). */

export const makeRelatedInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const related = [...relatedChanges(visible, entity)]
    if (related.length === 0) return undefined
    return new GraphQLInputObjectType({
      name: entity.name + parts.relatedInput,
      description: `What is to become of the rows that are related to one of ${entity.name}.`,
      fields: () =>
        Object.fromEntries(
          related.map(([name, { target, part }]) => [
            name,
            { type: types.part(target, part) as GraphQLInputType, description: subjects[changeForms[part].of](target) },
          ]),
        ),
    })
  }

const subjects = {
  parent: ({ name }: EntityFacts) => `The row of ${name} that it belongs to.`,
  child: ({ name }: EntityFacts) => `The row of ${name} that belongs to it.`,
  children: ({ name }: EntityFacts) => `The rows of ${name} that belong to it.`,
}

export const relatedChangeMakers = (visible: RoleVisibility): Readonly<Record<ChangePart, MakePart>> =>
  Object.fromEntries(changeParts.map((part) => [part, makeChange(visible, part)])) as Readonly<
    Record<ChangePart, MakePart>
  >

const makeChange =
  (visible: RoleVisibility, part: ChangePart): MakePart =>
  (entity, types) => {
    const members = changeMembers(visible, entity, part)
    if (members.length === 0) return undefined
    const { of } = changeForms[part]
    return new GraphQLInputObjectType({
      name: entity.name + parts[part],
      ...(of !== 'children' && alternativesOfRow(entity, types)),
      description: `What is to become of rows of ${entity.name} that are related to one${of === 'children' ? '' : ', one thing'}.`,
      fields: () =>
        Object.fromEntries(
          members.flatMap((member): (readonly [string, GraphQLInputFieldConfig])[] => [
            [
              member,
              { type: memberType(visible, entity, types, of === 'children', member), description: helps[member] },
            ],
            ...(member === 'insert' ? Object.entries(types.insertArguments(entity)) : []),
          ]),
        ),
    })
  }

const helps: Readonly<Record<ChangeMember, string>> = {
  insert: 'Adds rows.',
  connect: 'Finds rows by a key, wherever they belong.',
  update: 'Changes rows that are related.',
  disconnect: 'Sets the columns of the relation to null.',
  delete: 'Removes rows that are related.',
}

function memberType(
  visible: RoleVisibility,
  entity: EntityFacts,
  types: SchemaTypes,
  isMany: boolean,
  member: ChangeMember,
): GraphQLInputType {
  const many = (type: GraphQLInputObjectType): GraphQLInputType => (isMany ? new GraphQLList(nonNull(type)) : type)
  switch (member) {
    case 'insert':
      return many(insertInput(entity, types))
    case 'connect':
      return many(types.part(entity, 'keyInput') as GraphQLInputObjectType)
    case 'update':
      return isMany
        ? many(rowChanges(visible, entity)?.input(types) as GraphQLInputObjectType)
        : (types.part(entity, 'updateInput') as GraphQLInputObjectType)
    case 'disconnect':
    case 'delete':
      return isMany ? many(types.part(entity, 'keyInput') as GraphQLInputObjectType) : scalars.Boolean
  }
}
