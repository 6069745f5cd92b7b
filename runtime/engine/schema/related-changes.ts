import { GraphQLInputObjectType, GraphQLList, type GraphQLInputFieldConfig, type GraphQLInputType } from 'graphql'
import { changeForms, changeParts, type ChangePart } from '../../contract/related-change-forms.ts'
import type { EntityFacts } from '../../contract/manifest.ts'
import { changeMembers, relatedChanges, type ChangeMember } from '../related-change-facts.ts'
import type { RoleVisibility } from '../view.ts'
import { alternativesOfRow, insertInput } from './nested.ts'
import { scalars } from './scalars.ts'
import { nonNull, typeName, type MakePart, type SchemaTypes } from './types.ts'

/** Related rows in an update by key (`nestedWrites` with `updates`, spec/graphql.md 17.6). */

export const makeRelatedInput =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const related = [...relatedChanges(visible, entity)]
    if (related.length === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'relatedInput'),
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
      name: typeName(entity, part),
      ...(of !== 'children' && alternativesOfRow(entity, types)),
      description: `What is to become of rows of ${entity.name} that are related to one${of === 'children' ? '' : ', one thing'}.`,
      fields: () =>
        Object.fromEntries(
          members.flatMap((member): (readonly [string, GraphQLInputFieldConfig])[] => [
            [member, { type: memberType(entity, types, of === 'children', member), description: helps[member] }],
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

function memberType(entity: EntityFacts, types: SchemaTypes, isMany: boolean, member: ChangeMember): GraphQLInputType {
  const many = (type: GraphQLInputObjectType): GraphQLInputType => (isMany ? new GraphQLList(nonNull(type)) : type)
  switch (member) {
    case 'insert':
      return many(insertInput(entity, types))
    case 'connect':
      return many(types.part(entity, 'keyInput') as GraphQLInputObjectType)
    case 'update':
      return many(types.part(entity, isMany ? 'rowInput' : 'updateInput') as GraphQLInputObjectType)
    case 'disconnect':
    case 'delete':
      return isMany ? many(types.part(entity, 'keyInput') as GraphQLInputObjectType) : scalars.Boolean
  }
}
