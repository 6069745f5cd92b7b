import { GraphQLInputObjectType, type GraphQLInputType, type GraphQLScalarType } from 'graphql'
import type { ColumnFacts } from '../../contract/manifest.ts'
import { groupColumns, groupRelations, isMeasured, reachesKey } from '../related.ts'
import type { RoleVisibility } from '../view.ts'
import type { InputField } from './related.ts'
import { scalars } from './scalars.ts'
import { typeName, type MakePart } from './types.ts'

/** Widths of groups of numbers (spec/graphql.md 17.2); undefined without numeric keys. */
export const makeGroupWidths =
  (visible: RoleVisibility): MakePart =>
  (entity, types) =>
    reachesKey(visible, entity, isMeasured)
      ? new GraphQLInputObjectType({
          name: typeName(entity, 'groupWidths'),
          description: `How far groups of rows of ${entity.name} reach by numbers.`,
          fields: () =>
            Object.fromEntries([
              ...[...groupColumns(visible, entity)].flatMap(([name, column]): readonly InputField[] =>
                isMeasured(column)
                  ? [[name, { type: widthOf(column), description: `How far groups by ${name} reach; more than 0.` }]]
                  : [],
              ),
              ...[...groupRelations(visible, entity)].flatMap(([name, { target }]): readonly InputField[] => {
                const type = types.part(target, 'groupWidths') as GraphQLInputType | undefined
                return type === undefined ? [] : [[name, { type, description: `How far groups by ${name} reach.` }]]
              }),
            ]),
        })
      : undefined

/** Groups of whole numbers begin at whole numbers. */
const widthOf = ({ type }: ColumnFacts): GraphQLScalarType =>
  type?.kind === 'scalar' && (type.name === 'Int' || type.name === 'BigInt') ? scalars.BigInt : scalars.BigFloat
