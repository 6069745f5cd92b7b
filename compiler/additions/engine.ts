import type { Manifest } from '../../runtime/contract/manifest.ts'
import type { SchemaAddition } from '../../runtime/engine/additions.ts'
import { createEngine as createCoreEngine, type CreateEngine } from '../../runtime/engine/engine.ts'
import { buildView as buildCoreView, type RoleView } from '../../runtime/engine/schema/schema.ts'
import { visibleTo as coreVisibleTo, type RoleVisibility } from '../../runtime/engine/view.ts'
import { oneOf } from './one-of/schema.ts'
import { softDelete } from './soft-delete/schema.ts'

/** The parts of additions in the schemas of roles. The table is apart from table.ts: the thread that reads documents loads no compiler. */
const schemaAdditions: readonly SchemaAddition[] = Object.values({
  oneOf,
  softDelete,
})

export const createEngine: CreateEngine = (revision, memories) => createCoreEngine(revision, schemaAdditions, memories)

export const buildView = (manifest: Manifest, role: string): RoleView => buildCoreView(manifest, role, schemaAdditions)

export const visibleTo = (manifest: Manifest, role: string): RoleVisibility =>
  coreVisibleTo(manifest, role, schemaAdditions)
