import { GraphQLEnumType, type GraphQLFieldConfigArgumentMap } from 'graphql'
import type { EntityFacts } from '../../contract/manifest.ts'
import { writtenEnum } from '../meaning.ts'
import { nonNull } from './types.ts'

/** The selection of deleted rows of a relation with `softDelete` (spec/graphql.md 17.5). */
export const deletedRows = new GraphQLEnumType({
  name: 'DeletedRows',
  extensions: writtenEnum,
  description: 'Which rows are meant, where some count as deleted.',
  values: {
    WITHOUT: { description: 'Those that are not deleted.' },
    WITH: { description: 'All of them.' },
    ONLY: { description: 'Those that are deleted.' },
  },
})

/** The argument or input field for deleted rows. */
export const deletedInput = {
  deleted: {
    type: nonNull(deletedRows),
    defaultValue: 'WITHOUT',
    description: 'Whether deleted rows are meant, too. Default WITHOUT.',
  },
} as const

/** The arguments of a field that finds rows by a key, whose columns keep their names. */
export const besideKey = (entity: EntityFacts, key: GraphQLFieldConfigArgumentMap): GraphQLFieldConfigArgumentMap => ({
  ...key,
  ...deletedArgument(entity),
  ...key,
})

/** The same as an argument of a field that finds rows of the relation. */
export const deletedArgument = ({ softDelete }: EntityFacts): Partial<typeof deletedInput> =>
  softDelete == null ? {} : deletedInput
