import { tableAddition, type Addition } from '../addition.ts'
import { parts } from './facts.ts'

/** One row for each combination of values (spec/graphql.md 17). */
export const distinctOn = {
  ...tableAddition('distinctOn', 'lets its collection take one row per value'),
  parts,
  collectionArguments: ['distinctOn'],
} satisfies Addition
