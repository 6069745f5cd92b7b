import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { changes, neededColumns, relationFacts, typeNames } from './facts.ts'

/** Deletes that mark rows (spec/graphql.md 17.5). */
export const softDelete = {
  name: 'softDelete',
  keys,
  marks: ['softDelete'],
  typeNames,
  hidesRows: true,
  rowArguments: ['deleted'],
  relationFacts,
  neededColumns,
  changes,
} satisfies Addition
