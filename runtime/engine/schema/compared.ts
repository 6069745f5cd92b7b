import { GraphQLEnumType, GraphQLInputObjectType, type GraphQLInputType } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { columnOperators, operators } from '../../sql/operators.ts'
import { comparedColumns } from '../compared.ts'
import { writtenEnum } from '../meaning.ts'
import type { RoleVisibility } from '../view.ts'
import type { InputField } from './related.ts'
import { typeName, type MakePart, type SchemaTypes } from './types.ts'

/** Comparisons of columns with each other (`columnFilters`, spec/graphql.md 17.1). */

export const columnConditions = (entity: EntityFacts, types: SchemaTypes): readonly InputField[] => {
  const type = types.part(entity, 'columnFilter') as GraphQLInputType | undefined
  return type === undefined ? [] : [['columns', { type, description: 'Comparisons of columns with each other.' }]]
}

export const makeColumnFilter =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    const columns = comparedColumns(visible, entity)
    if (columns.size === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'columnFilter'),
      description: `Comparisons of columns of ${entity.name} with each other; all that are given must hold.`,
      fields: () => {
        const type = types.part(entity, 'columnComparison') as GraphQLInputType
        return Object.fromEntries(
          [...columns.keys()].map((name) => [name, { type, description: `Compares ${name} with other columns.` }]),
        )
      },
    })
  }

export const makeColumnComparison =
  (visible: RoleVisibility): MakePart =>
  (entity, types) => {
    if (comparedColumns(visible, entity).size === 0) return undefined
    return new GraphQLInputObjectType({
      name: typeName(entity, 'columnComparison'),
      description: `Comparisons of a column of ${entity.name} with columns that hold the like; all that are given must hold.`,
      fields: () => {
        const type = types.part(entity, 'comparedColumn') as GraphQLInputType
        return Object.fromEntries(
          columnOperators.map((name) => [
            name,
            { type, description: operators[name].help.replace('this value', 'the value of this column') },
          ]),
        )
      },
    })
  }

/** The values are SQL names of columns. */
export const makeComparedColumn =
  (visible: RoleVisibility): MakePart =>
  (entity) => {
    const columns = [...comparedColumns(visible, entity)]
    if (columns.length === 0) return undefined
    return new GraphQLEnumType({
      name: typeName(entity, 'comparedColumn'),
      description: `The columns of ${entity.name} that others are compared with.`,
      extensions: writtenEnum,
      values: Object.fromEntries(columns.map(([name, { column }]) => [name, { value: column }])),
    })
  }
