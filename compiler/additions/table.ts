import { partTable } from '../../runtime/contract/name-parts.ts'
import { keyTable } from '../comments/settings.ts'
import type { Addition } from './addition.ts'
import { allowlist } from './allowlist/addition.ts'
import { arrayFilters } from './array-filters/addition.ts'
import { columnFilters } from './column-filters/addition.ts'
import { composites } from './composites/addition.ts'
import { defaultFilter } from './default-filter/addition.ts'
import { defaultOrder } from './default-order/addition.ts'
import { deprecated } from './deprecated/addition.ts'
import { distinctOn } from './distinct-on/addition.ts'
import { domains } from './domains/addition.ts'
import { enumArrays } from './enum-arrays/addition.ts'
import { explain } from './explain/addition.ts'
import { extensions } from './extensions/addition.ts'
import { functionShapes } from './function-shapes/addition.ts'
import { geo } from './geo/addition.ts'
import { groups } from './groups/addition.ts'
import { jsonFilters } from './json-filters/addition.ts'
import { limits } from './limits/addition.ts'
import { links } from './links/addition.ts'
import { live } from './live/addition.ts'
import { ltreeFilters } from './ltree-filters/addition.ts'
import { manyToMany } from './many-to-many/addition.ts'
import { nestedWrites } from './nested-writes/addition.ts'
import { networkFilters } from './network-filters/addition.ts'
import { oneOf } from './one-of/addition.ts'
import { orderByRelated } from './order-by-related/addition.ts'
import { polymorphism } from './polymorphism/addition.ts'
import { preset } from './preset/addition.ts'
import { rangeFilters } from './range-filters/addition.ts'
import { readOnly } from './read-only/addition.ts'
import { relationFilters } from './relation-filters/addition.ts'
import { root } from './root/addition.ts'
import { schemaReport } from './schema-report/addition.ts'
import { search } from './search/addition.ts'
import { softDelete } from './soft-delete/addition.ts'
import { textFilters } from './text-filters/addition.ts'
import { uniqueKeys } from './unique-keys/addition.ts'
import { updates } from './updates/addition.ts'
import { upsert } from './upsert/addition.ts'
import { writeOnly } from './write-only/addition.ts'

/** The additions that are folders (spec/graphql.md 17); the core has all others (test/budgets.json). */
const table = {
  allowlist,
  arrayFilters,
  columnFilters,
  composites,
  defaultFilter,
  defaultOrder,
  deprecated,
  distinctOn,
  domains,
  enumArrays,
  explain,
  extensions,
  functionShapes,
  geo,
  groups,
  jsonFilters,
  limits,
  links,
  live,
  ltreeFilters,
  manyToMany,
  nestedWrites,
  networkFilters,
  oneOf,
  orderByRelated,
  polymorphism,
  preset,
  rangeFilters,
  readOnly,
  relationFilters,
  root,
  schemaReport,
  search,
  softDelete,
  textFilters,
  uniqueKeys,
  updates,
  upsert,
  writeOnly,
}

export const additions: readonly Addition[] = Object.values(table)

declare module '../comments/keys.ts' {
  interface AddedKeys {
    readonly rows: (typeof table)[keyof typeof table]['keys'][number]
  }
}

/** The keys of comments. */
export const commentKeys = keyTable(additions.flatMap(({ keys }) => keys))

/** The types of relations. */
export const partNames = partTable(additions)
