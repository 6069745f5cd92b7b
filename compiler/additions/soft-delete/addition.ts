import type { Decoder } from '../../comments/decoders.ts'
import { keyAddition } from '../addition.ts'
import { changes, neededColumns, relationFacts, typeNames } from './facts.ts'

/** The name of a column; a malformed value matches no column. */
const columnName: Decoder<string | null> = (value) => ({
  ok: true,
  value: value === null || typeof value === 'string' ? value : JSON.stringify(value),
})

/** Deletes that mark rows (spec/graphql.md 17.5). */
export const softDelete = keyAddition(
  'softDelete',
  {
    on: ['relation'],
    decode: columnName,
    help: 'the name of a column, a time or a boolean, that marks rows as deleted: deletes set it, and nothing else sees such rows.',
  },
  {
    marks: ['softDelete'],
    typeNames,
    hidesRows: true,
    rowArguments: ['deleted'],
    relationFacts,
    neededColumns,
    changes,
  },
)
