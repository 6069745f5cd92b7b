import { idOf, decidingFacts } from '../contract/facts.ts'
import type { RolePrivileges } from '../contract/execution.ts'
import type { CallBuilder, EntityBuilder } from '../contract/builder.ts'
import type { Manifest, ObjectId } from '../contract/manifest.ts'
import type { Revision } from '../contract/artifact.ts'
import { createLru, type LruStats } from '../lib/caches.ts'
import type { EngineAdditions } from './additions.ts'
import { evaluateModule } from './load.ts'
import { createMemories, maxRoles, type Memories } from '../lib/memo/memo.ts'
import { createPrivileges } from './privileges.ts'
import { buildView, type RoleView } from './schema/schema.ts'

/** One loaded revision: immutable for readers; its parts are made on first use. */
export interface Engine {
  /** Content address of the revision. */
  readonly revision: string
  /** Schema version to check requests with; null if the database is not followed. */
  readonly version: string | null
  readonly manifest: Manifest
  readonly additions: EngineAdditions
  readonly view: (role: string) => RoleView
  readonly privileges: (role: string) => RolePrivileges
  readonly entity: (id: ObjectId) => EntityBuilder
  readonly call: (id: ObjectId) => CallBuilder
  /** Statistics of the role schemas; each weighs 1. */
  readonly viewStats: () => LruStats
}

export type CreateEngine = (revision: Revision, memories?: Memories) => Engine

export function createEngine(
  revision: Revision,
  additions: EngineAdditions,
  memories: Memories = createMemories(),
): Engine {
  const views = createLru<string, RoleView>(maxRoles)
  const modules = memories.shared.table(idOf, revision.entities)
  const entities = new Map<ObjectId, EntityBuilder>()
  let calls: Readonly<Record<ObjectId, CallBuilder>> | undefined
  return {
    revision: revision.id,
    version: revision.version,
    manifest: revision.manifest,
    additions,
    view: (role) => {
      const known = views.get(role)
      if (known !== undefined) return known
      const view = buildView(
        revision.manifest,
        role,
        additions,
        memories.of(JSON.stringify(decidingFacts(revision.manifest, role))),
      )
      views.set(role, view)
      return view
    },
    privileges: createPrivileges(revision.manifest),
    entity: (id) => {
      const known = entities.get(id)
      if (known !== undefined) return known
      const text = modules.get(id)?.text
      if (text === undefined) throw new Error(`revision ${revision.id} holds no builder for ${id}`)
      const builder = evaluateModule(text, id) as EntityBuilder
      entities.set(id, builder)
      return builder
    },
    call: (id) => {
      calls ??= evaluateModule(revision.functions, 'functions') as Readonly<Record<ObjectId, CallBuilder>>
      const builder = Object.hasOwn(calls, id) ? calls[id] : undefined
      if (builder === undefined) throw new Error(`revision ${revision.id} holds no builder for ${id}`)
      return builder
    },
    viewStats: views.stats,
  }
}
