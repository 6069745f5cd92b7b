import { revisionId } from '../../runtime/contract/artifact.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Revision } from '../../runtime/contract/revision.ts'
import { createListRecall } from '../../runtime/lib/recall.ts'
import { sha256Hex } from '../../runtime/lib/sha256.ts'
import type { CallSql, EntitySql, Model } from '../model/types.ts'
import { noted, type Noted } from '../report/noted.ts'
import { entityModule, typesOf } from './builders.ts'
import { callsModule } from './calls.ts'
import { checkCalls, checkEntity, createCheck, type Checked } from './check.ts'
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

interface EntityPart extends Part {
  readonly id: ObjectId
}

/**
 * An emitter recalls the module of each relation, so that a changed table costs one table, and that of the functions.
 * What it made of earlier revisions goes with them.
 */
export function createEmitter(): Emit {
  const parse = createSqlParser()
  const check = createCheck(parse)
  const known = new WeakMap<EntitySql, EntityPart>()
  const recallTold = createListRecall<EntityPart, Checked | null>()
  let lastCalls: { readonly key: string; readonly part: Part } | null = null

  const makeEntityPart = (entity: EntitySql): Promise<Part> => {
    const types = typesOf(entity)
    return makePart(entityModule(entity, types), (text) => checkEntity(entity.id, text, types, check))
  }
  const entityParts = async (entities: readonly EntitySql[]): Promise<readonly EntityPart[]> => {
    const parts: EntityPart[] = []
    for (const entity of entities) {
      let part = known.get(entity)
      if (part === undefined) {
        part = { ...(await makeEntityPart(entity)), id: entity.id }
        known.set(entity, part)
      }
      parts.push(part)
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
    const told = recallTold(known, parts, [], (part) => (part.checked.diagnostics.length > 0 ? part.checked : null))
    const checks = told.filter((checked) => checked !== null)
    const refused = new Set(checks.flatMap((checked) => checked.refused))
    const served = leaveOut(model, { entities: refused, functions: new Set(functions.checked.refused) })
    const kept = refused.size === 0 ? parts : parts.filter(({ id }) => !refused.has(id))
    return noted(
      revisionOf(served, version, kept),
      [...checks, functions.checked].flatMap(({ diagnostics }) => diagnostics),
    )
  }
}

const makePart = async (text: string, check: (text: string) => Promise<Checked>): Promise<Part> => ({
  text,
  digest: sha256Hex(text),
  checked: await check(text),
})

const recallDigests = createListRecall<EntityPart, readonly [id: ObjectId, digest: string]>()

function revisionOf({ manifest, functions }: Model, version: string | null, parts: readonly EntityPart[]): Revision {
  const calls = callsModule(Object.values(functions))
  const id = revisionId({
    manifest: manifestDigest(manifest),
    functions: sha256Hex(calls),
    entities: recallDigests(parts[0] ?? parts, parts, [], ({ id, digest }) => [id, digest]),
  })
  return { id, version, manifest, entities: textsOf(parts), functions: calls }
}

function textsOf(parts: readonly EntityPart[]): Revision['entities'] {
  const texts: Record<ObjectId, string> = {}
  for (const { id, text } of parts) texts[id] = text
  return texts
}
