import { tableAddition } from '../addition.ts'
import { parts } from './facts.ts'

/** Orders by values and counts of related rows (spec/graphql.md 17). */
export const orderByRelated = tableAddition(
  'orderByRelated',
  'lets its order ask for values and counts of related rows',
  {
    parts,
    joins: ['orderByRelated'],
  },
)
