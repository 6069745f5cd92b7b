import { GraphQLEnumType, GraphQLList, type GraphQLFieldConfigArgumentMap } from 'graphql'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { writtenEnum } from '../../../runtime/engine/meaning.ts'
import { enumFields } from '../../../runtime/engine/related.ts'
import { nonNull, type MakePart, type SchemaTypes } from '../../../runtime/engine/schema/types.ts'
import type { RoleVisibility } from '../../../runtime/engine/view.ts'
import { parts } from './facts.ts'
import { planCollection } from './plan.ts'
import { readRows } from './statements.ts'

/** The values are SQL names of columns. */
const makeDistinctField =
  (visible: RoleVisibility): MakePart =>
  (entity) => {
    const fields = entity.distinctOn === true ? [...enumFields(visible.orderable(entity))] : []
    if (fields.length === 0) return undefined
    return new GraphQLEnumType({
      name: entity.name + parts.distinctField,
      description: `The fields of ${entity.name} that tell rows apart.`,
      extensions: writtenEnum,
      values: Object.fromEntries(
        fields.map(([name, { column }]) => [
          name,
          { value: column, description: `One row for each value of ${name}.` },
        ]),
      ),
    })
  }

function collectionArguments(entity: EntityFacts, types: SchemaTypes): GraphQLFieldConfigArgumentMap {
  const distinctField = types.part(entity, 'distinctField') as GraphQLEnumType | undefined
  if (distinctField === undefined) return {}
  return {
    distinctOn: {
      type: new GraphQLList(nonNull(distinctField)),
      description: 'Take one row for each combination of values of these fields: the first in the order.',
    },
  }
}

export const distinctOn: SchemaAddition = {
  name: 'distinctOn',
  parts,
  makers: (visible) => ({ distinctField: makeDistinctField(visible) }),
  collectionArguments,
  planCollection,
  rows: { of: 'distinct', read: readRows },
}
