import { withDiagnostics } from '../../catalog/diagnostics/diagnostics.ts'
import { tableSwitch } from '../../comments/additions.ts'
import { lookupKeys } from '../../model/lookups.ts'
import type { Addition } from '../addition.ts'
import { lookupsOf } from './facts.ts'

/** Fields of Query that look rows up by unique keys (spec/graphql.md 17.3). */
export const uniqueKeys = {
  name: 'uniqueKeys',
  keys: [tableSwitch('uniqueKeys', 'adds a field to Query for each of its unique keys')],
  relationFacts: (named) => {
    const lookups = lookupKeys(named)
    return withDiagnostics(lookups.length === 0 ? {} : { lookups })
  },
  queryNames: (entity) => lookupsOf(entity).map(({ name }) => name),
} satisfies Addition
