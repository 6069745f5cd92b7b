import { GraphQLEnumType, GraphQLInputObjectType, type GraphQLInputType } from 'graphql'
import type { ColumnFacts, EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { writtenEnum } from '../../../runtime/engine/meaning.ts'
import { enumFields } from '../../../runtime/engine/related.ts'
import type { MakePart, SchemaTypes } from '../../../runtime/engine/schema/types.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import { columnOperators, operators } from '../../../runtime/sql/operators.ts'
import { parts } from './facts.ts'
import { planColumns } from './plan.ts'

/** Columns that can be compared with another column of the row, by field. */
function comparedColumns(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, ColumnFacts> {
  if (entity.columnFilters !== true) return new Map()
  const columns = enumFields(visible.filterable(entity).filter(({ order }) => order))
  const families = groupBy([...columns.values()], ({ comparison = '' }) => comparison)
  return new Map([...columns].filter(([, { comparison = '' }]) => (families.get(comparison) ?? []).length > 1))
}

type Columns = ReadonlyMap<string, ColumnFacts>

/** Undefined without columns that can be compared. */
const ofColumns =
  (
    visible: RoleVisibility,
    make: (entity: EntityFacts, types: SchemaTypes, columns: Columns) => ReturnType<MakePart>,
  ): MakePart =>
  (entity, types) => {
    const columns = comparedColumns(visible, entity)
    return columns.size === 0 ? undefined : make(entity, types, columns)
  }

const inputs = (names: Iterable<string>, type: unknown, describe: (name: string) => string) =>
  Object.fromEntries([...names].map((name) => [name, { type: type as GraphQLInputType, description: describe(name) }]))

const makers = (visible: RoleVisibility) => ({
  columnFilter: ofColumns(
    visible,
    (entity, types, columns) =>
      new GraphQLInputObjectType({
        name: entity.name + parts.columnFilter,
        description: `Comparisons of columns of ${entity.name} with each other; all that are given must hold.`,
        fields: () =>
          inputs(
            columns.keys(),
            types.part(entity, 'columnComparison'),
            (name) => `Compares ${name} with other columns.`,
          ),
      }),
  ),
  columnComparison: ofColumns(
    visible,
    (entity, types) =>
      new GraphQLInputObjectType({
        name: entity.name + parts.columnComparison,
        description: `Comparisons of a column of ${entity.name} with columns that hold the like; all that are given must hold.`,
        fields: () =>
          inputs(columnOperators, types.part(entity, 'comparedColumn'), (name) =>
            operators[name as keyof typeof operators].help.replace('this value', 'the value of this column'),
          ),
      }),
  ),
  /** The values are SQL names of columns. */
  comparedColumn: ofColumns(
    visible,
    (entity, _, columns) =>
      new GraphQLEnumType({
        name: entity.name + parts.comparedColumn,
        description: `The columns of ${entity.name} that others are compared with.`,
        extensions: writtenEnum,
        values: Object.fromEntries([...columns].map(([name, { column }]) => [name, { value: column }])),
      }),
  ),
})

export const columnFilters: SchemaAddition = {
  name: 'columnFilters',
  parts,
  makers,
  filterMembers: (visible, entity) => {
    const columns = comparedColumns(visible, entity)
    const input = (types: SchemaTypes) => ({
      type: types.part(entity, 'columnFilter') as GraphQLInputType,
      description: 'Comparisons of columns with each other.',
    })
    return columns.size === 0 ? [] : [['columns', { input, plan: (_, given) => planColumns(columns, given) }]]
  },
}
