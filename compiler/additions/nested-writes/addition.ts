import { rowKeyFacts } from '../../model/lookups.ts'
import { tableAddition } from '../addition.ts'
import { parts, withSelfContained } from './facts.ts'

/** Inserts, and updates by key, with related rows (spec/graphql.md 17.6). */
export const nestedWrites = tableAddition('nestedWrites', 'lets an insert of it take related rows, new or existing', {
  parts,
  writes: true,
  relationFacts: rowKeyFacts,
  wholeFacts: withSelfContained,
})
