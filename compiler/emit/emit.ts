import { digestEntity, revisionId, type EntityModule, type Revision } from '../../runtime/contract/artifact.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import { createMemo, type Memo } from '../../runtime/lib/memo/memo.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { inTurns, type Steps } from '../../runtime/lib/steps.ts'
import type { EntitySql, Model } from '../model/model.ts'
import { withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/with-diagnostics.ts'
import { entityModule, columnTypesOf } from './builders.ts'
import { callsModule } from './calls.ts'
import { checkCalls, checkEntity, createCheck, type Check, type Checked } from './check.ts'
import { leaveOut } from './leave-out.ts'
import { manifestDigest } from './manifest.ts'
import { createSqlParser } from './sql-parser.ts'

/**
 * Model -> Revision. `version` is the schema version at which the model was read; it is not part of the revision's id.
 */
export type Emit = (model: Model, version: string | null) => Promise<WithDiagnostics<Revision>>

/** The module of one relation. */
interface EntityPart {
  readonly id: ObjectId
  readonly text: string
  readonly digest: string
  readonly checked: Checked
}

/** An emitter memoizes the module of each relation, so that a changed table costs one table. */
export function createEmitter(memo: Memo = createMemo()): Emit {
  const parse = createSqlParser()
  const check = createCheck(parse)
  return async (model, version) => {
    const parts = await memo.eachLater(entityPart, model.entities, check)
    const functions = await memo.later(checkCalls, parse, memo.of(callsModule, model.functions))
    return inTurns(assembleRevision(memo, model, version, parts, functions))
  }
}

function* assembleRevision(
  memo: Memo,
  model: Model,
  version: string | null,
  parts: readonly EntityPart[],
  functions: Checked,
): Steps<WithDiagnostics<Revision>> {
  const checks = (yield* memo.map(reporting, parts)).filter((checked) => checked !== null)
  const refused = new Set(checks.flatMap((checked) => checked.refused))
  const served = leaveOut(model, { entities: refused, functions: new Set(functions.refused) })
  const kept = refused.size === 0 ? parts : parts.filter(({ id }) => !refused.has(id))
  return withDiagnostics(
    yield* revisionOf(memo, served, version, kept),
    [...checks, functions].flatMap(({ diagnostics }) => diagnostics),
  )
}

async function entityPart(entity: EntitySql, check: Check): Promise<EntityPart> {
  const { id } = entity
  const types = columnTypesOf(entity)
  const text = entityModule(entity, types)
  return { id, text, digest: sha256Hex(text), checked: await checkEntity(id, text, types, check) }
}

const reporting = ({ checked }: EntityPart): Checked | null => (checked.diagnostics.length > 0 ? checked : null)

const digestLine = ({ id, digest }: EntityPart): string => digestEntity(id, digest)
const moduleOf = ({ id, text }: EntityPart): EntityModule => ({ id, text })

function* revisionOf(
  memo: Memo,
  { manifest, functions }: Model,
  version: string | null,
  parts: readonly EntityPart[],
): Steps<Revision> {
  const calls = memo.of(callsModule, functions)
  const id = revisionId({
    manifest: yield* manifestDigest(memo, manifest),
    functions: memo.one(sha256Hex, calls),
    entities: yield* memo.map(digestLine, parts),
  })
  return { id, version, manifest, entities: yield* memo.map(moduleOf, parts), functions: calls }
}
