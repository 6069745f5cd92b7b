import { GraphQLEnumType } from 'graphql'
import { writtenEnum } from '../../../runtime/engine/meaning.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { nonNull } from '../../../runtime/engine/schema/types.ts'
import { meansNone, meant, planMark } from './plan.ts'

/** The selection of deleted rows (spec/graphql.md 17.5). */
const deletedRows = new GraphQLEnumType({
  name: 'DeletedRows',
  extensions: writtenEnum,
  description: 'Which rows are meant, where some count as deleted.',
  values: {
    WITHOUT: { description: 'Those that are not deleted.' },
    WITH: { description: 'All of them.' },
    ONLY: { description: 'Those that are deleted.' },
  },
})

const rowArguments = {
  deleted: {
    type: nonNull(deletedRows),
    defaultValue: 'WITHOUT',
    description: 'Whether deleted rows are meant, too. Default WITHOUT.',
  },
}

export const softDelete: SchemaAddition = {
  name: 'softDelete',
  types: [deletedRows],
  rowArguments: (of) => (of.softDelete == null ? {} : rowArguments),
  marker: ({ softDelete: marker }) => marker,
  meant,
  meansNone,
  planMark,
}
