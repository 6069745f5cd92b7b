import type { Manifest } from '../../runtime/contract/manifest.ts'
import { engineAdditions } from '../../runtime/engine/additions.ts'
import { createEngine as createCoreEngine, type CreateEngine } from '../../runtime/engine/engine.ts'
import { buildView as buildCoreView, type RoleView } from '../../runtime/engine/schema/schema.ts'
import { visibleTo as coreVisibleTo, type RoleVisibility } from '../../runtime/engine/view.ts'
import { arrayFilters } from './array-filters/schema.ts'
import { columnFilters } from './column-filters/schema.ts'
import { deprecated } from './deprecated/schema.ts'
import { distinctOn } from './distinct-on/schema.ts'
import { enumArrays } from './enum-arrays/schema.ts'
import { functionShapes } from './function-shapes/schema.ts'
import { geo } from './geo/schema.ts'
import { groups } from './groups/schema.ts'
import { jsonFilters } from './json-filters/schema.ts'
import { ltreeFilters } from './ltree-filters/schema.ts'
import { nestedWrites } from './nested-writes/schema.ts'
import { networkFilters } from './network-filters/schema.ts'
import { oneOf } from './one-of/schema.ts'
import { orderByRelated } from './order-by-related/schema.ts'
import { rangeFilters } from './range-filters/schema.ts'
import { relationFilters } from './relation-filters/schema.ts'
import { search } from './search/schema.ts'
import { softDelete } from './soft-delete/schema.ts'
import { textFilters } from './text-filters/schema.ts'
import { uniqueKeys } from './unique-keys/schema.ts'
import { updates } from './updates/schema.ts'
import { upsert } from './upsert/schema.ts'

/** The parts of additions in engines. The table is apart from table.ts: the thread that reads documents loads no compiler. */
const table = {
  arrayFilters,
  deprecated,
  distinctOn,
  enumArrays,
  functionShapes,
  geo,
  groups,
  jsonFilters,
  ltreeFilters,
  networkFilters,
  oneOf,
  orderByRelated,
  rangeFilters,
  relationFilters,
  search,
  softDelete,
  textFilters,
  uniqueKeys,
  updates,
  // After updates: its argument follows those of operators.
  nestedWrites,
  upsert,
  // Last: its member of filters has a fixed name, which a relation may have, too.
  columnFilters,
}

export const additionsOfEngines = engineAdditions(Object.values(table))

export const createEngine: CreateEngine = (revision, memories) =>
  createCoreEngine(revision, additionsOfEngines, memories)

export const buildView = (manifest: Manifest, role: string): RoleView =>
  buildCoreView(manifest, role, additionsOfEngines)

export const visibleTo = (manifest: Manifest, role: string): RoleVisibility =>
  coreVisibleTo(manifest, role, additionsOfEngines)
