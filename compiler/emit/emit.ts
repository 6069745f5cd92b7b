import { revisionId } from '../../runtime/contract/artifact.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Revision } from '../../runtime/contract/revision.ts'
import { sha256Hex } from '../../runtime/lib/sha256.ts'
import type { CallSql, EntitySql, Model } from '../model/types.ts'
import { noted, type Noted } from '../report/noted.ts'
import { entityModule } from './builders.ts'
import { callsModule } from './calls.ts'
import { checkCalls, checkEntity, type Checked } from './check.ts'
import { leaveOut } from './leave-out.ts'
import { manifestDigest } from './manifest.ts'
import { createSqlParser } from './sql-parser.ts'

/**
 * Model -> Revision. `version` is the schema version that the model was read at; it is no part of the revision's id.
 */
export type Emit = (model: Model, version: string | null) => Promise<Noted<Revision>>

/** The module of one relation, or of all root functions. */
interface Part {
  readonly text: string
  readonly digest: string
  readonly checked: Checked
}

/**
 * An emitter recalls the module of each relation, so that a changed table costs one table, and that of the functions.
 * What it made of earlier revisions goes with them.
 */
export function createEmitter(): Emit {
  const parse = createSqlParser()
  const known = new WeakMap<EntitySql, Part>()
  let lastCalls: { readonly key: string; readonly part: Part } | null = null

  const entityParts = async (entities: readonly EntitySql[]): Promise<ReadonlyMap<ObjectId, Part>> => {
    const parts = new Map<ObjectId, Part>()
    for (const entity of entities) {
      let part = known.get(entity)
      if (part === undefined) {
        part = await makePart(entityModule(entity), (text) => checkEntity(entity.id, text, parse))
        known.set(entity, part)
      }
      parts.set(entity.id, part)
    }
    return parts
  }
  const callsPart = async (calls: readonly CallSql[]): Promise<Part> => {
    const key = sha256Hex(JSON.stringify(calls))
    if (lastCalls?.key !== key) {
      lastCalls = { key, part: await makePart(callsModule(calls), (text) => checkCalls(text, parse)) }
    }
    return lastCalls.part
  }
  return async (model, version) => {
    const parts = await entityParts(Object.values(model.entities))
    const functions = await callsPart(Object.values(model.functions))
    const served = leaveOut(model, {
      entities: new Set([...parts.values()].flatMap(({ checked }) => checked.refused)),
      functions: new Set(functions.checked.refused),
    })
    const all = [...parts.values(), functions].flatMap(({ checked }) => checked.diagnostics)
    return noted(revisionOf(served, version, parts), all)
  }
}

const makePart = async (text: string, check: (text: string) => Promise<Checked>): Promise<Part> => ({
  text,
  digest: sha256Hex(text),
  checked: await check(text),
})

function revisionOf(
  { manifest, functions }: Model,
  version: string | null,
  parts: ReadonlyMap<ObjectId, Part>,
): Revision {
  const calls = callsModule(Object.values(functions))
  const entities = manifest.entities.flatMap(({ id }) => {
    const part = parts.get(id)
    return part === undefined ? [] : [[id, part] as const]
  })
  const id = revisionId({
    manifest: manifestDigest(manifest),
    functions: sha256Hex(calls),
    entities: entities.map(([entity, { digest }]) => [entity, digest]),
  })
  const texts = Object.fromEntries(entities.map(([entity, { text }]) => [entity, text]))
  return { id, version, manifest, entities: texts, functions: calls }
}
