import { revisionId } from '../../runtime/contract/artifact.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Revision } from '../../runtime/contract/revision.ts'
import { sha256Hex } from '../../runtime/lib/sha256.ts'
import type { Model } from '../model/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { noted, type Noted } from '../report/noted.ts'
import { entityModule } from './builders.ts'
import { callsModule } from './calls.ts'
import { checkCalls, checkEntity } from './check.ts'
import { manifestText } from './manifest.ts'
import { createSqlParser } from './sql-parser.ts'

/** Model -> Revision. `version` is the schema version that the model was read at; it is no part of the revision's id. */
export type Emit = (model: Model, version: string | null) => Promise<Noted<Revision>>

/** The module of one relation, or of all root functions. */
interface Part {
  readonly text: string
  readonly digest: string
  readonly diagnostics: readonly Diagnostic[]
}

type Remember = (source: unknown, make: () => string, check: (text: string) => Promise<readonly Diagnostic[]>) => Promise<Part>

/**
 * An emitter remembers the modules of the revision before by the hash of what they were made from, so that a changed table costs one
 * table. It holds no more than the newest revision.
 */
export function createEmitter(): Emit {
  const parse = createSqlParser()
  let remembered: ReadonlyMap<string, Part> = new Map()
  return async (model, version) => {
    const parts = new Map<string, Part>()
    const remember: Remember = async (source, make, check) => {
      const key = sha256Hex(JSON.stringify(source))
      const part = remembered.get(key) ?? (await makePart(make(), check))
      parts.set(key, part)
      return part
    }
    const entities = new Map<ObjectId, Part>()
    for (const entity of Object.values(model.entities)) {
      const make = (): string => entityModule(entity)
      entities.set(entity.id, await remember(entity, make, (text) => checkEntity(entity.id, text, parse)))
    }
    const calls = Object.values(model.functions)
    const functions = await remember(calls, () => callsModule(calls), (text) => checkCalls(text, parse))
    remembered = parts
    return assemble(model, version, entities, functions)
  }
}

const makePart = async (text: string, check: (text: string) => Promise<readonly Diagnostic[]>): Promise<Part> => ({
  text,
  digest: sha256Hex(text),
  diagnostics: await check(text),
})

function assemble(
  { manifest }: Model,
  version: string | null,
  entities: ReadonlyMap<ObjectId, Part>,
  functions: Part,
): Noted<Revision> {
  const id = revisionId({
    manifest: sha256Hex(manifestText(manifest)),
    functions: functions.digest,
    entities: [...entities].map(([entity, { digest }]) => [entity, digest]),
  })
  const texts = Object.fromEntries([...entities].map(([entity, { text }]) => [entity, text]))
  const diagnostics = [...entities.values(), functions].flatMap((part) => part.diagnostics)
  return noted({ id, version, manifest, entities: texts, functions: functions.text }, diagnostics)
}
