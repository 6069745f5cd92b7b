import { keyTable } from '../compiler/comments/settings.ts'
import type { Addition } from './addition.ts'
import { allowlist } from './allowlist/addition.ts'
import { arrayFilters } from './array-filters/addition.ts'
import { columnFilters } from './column-filters/addition.ts'
import { composites } from './composites/addition.ts'
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
import { ltreeFilters } from './ltree-filters/addition.ts'
import { manyToMany } from './many-to-many/addition.ts'
import { nestedWrites } from './nested-writes/addition.ts'
import { networkFilters } from './network-filters/addition.ts'
import { oneOf } from './one-of/addition.ts'
import { orderByRelated } from './order-by-related/addition.ts'
import { rangeFilters } from './range-filters/addition.ts'
import { relationFilters } from './relation-filters/addition.ts'
import { root } from './root/addition.ts'
import { schemaReport } from './schema-report/addition.ts'
import { search } from './search/addition.ts'
import { softDelete } from './soft-delete/addition.ts'
import { textFilters } from './text-filters/addition.ts'
import { uniqueKeys } from './unique-keys/addition.ts'
import { updates } from './updates/addition.ts'
import { upsert } from './upsert/addition.ts'

/** The additions (spec/graphql.md 17). Without its row and its folder there is no trace of one. */
export const additions: readonly Addition[] = Object.values({
  allowlist,
  arrayFilters,
  columnFilters,
  composites,
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
  ltreeFilters,
  manyToMany,
  nestedWrites,
  networkFilters,
  oneOf,
  orderByRelated,
  rangeFilters,
  relationFilters,
  root,
  schemaReport,
  search,
  softDelete,
  textFilters,
  uniqueKeys,
  updates,
  upsert,
})

/** The keys of comments. */
export const commentKeys = keyTable(additions.flatMap(({ keys }) => keys))
