import { groupBy } from '../../runtime/lib/group-by.ts'
import { once } from '../../runtime/lib/once.ts'
import { createListRecall } from '../../runtime/lib/recall.ts'
import type { EntityFacts, Manifest, ObjectId, RefusalFacts, SchemaFacts } from '../../runtime/contract/manifest.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import type { Annotated, AnnotatedFunction, AnnotatedSchema, SchemaRefusal } from '../comments/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { additionFacts, type AdditionFacts } from './additions.ts'
import { tellCollisions } from './collisions.ts'
import { rowArgument } from './computed.ts'
import { buildComposites } from './composites.ts'
import { buildEntities, type Entity, type RowFunctions } from './entities.ts'
import { buildEnums } from './enums.ts'
import { functionNames } from './function-names.ts'
import { buildFunctions } from './functions.ts'
import { buildHeads } from './heads.ts'
import { buildLinks } from './links.ts'
import { schemaUsage } from './privileges.ts'
import { buildReport } from './report.ts'
import type { ResultContext } from './results.ts'
import { rolesPart } from './roles.ts'
import { readValues } from './scalars.ts'
import { inOrder, readScope, type Scope } from './scope.ts'
import type { EntitySql, Model } from './types.ts'
import { typeSchemaFacts } from './type-schemas.ts'

/**
 * Decides what the API will be, pass by pass: enums, values of types, relations with their keys, foreign keys between
 * them, and what hangs on both: entities and functions. The order of lists that mean nothing does not matter.
 */
export function buildModel(annotated: Annotated): { model: Model; diagnostics: readonly Diagnostic[] } {
  const scope = readScope(annotated)
  const enums = buildEnums(scope, annotated)
  const values = readValues(scope, enums.value)
  const composites = buildComposites(scope, annotated, values)
  const heads = buildHeads(scope, annotated)
  const byId = once(() => new Map(heads.value.map((head) => [head.id, head])))
  const links = buildLinks(scope, heads.value, byId)
  const context: ResultContext = { scope, values, heads: byId }
  const functions = inOrder(scope, annotated.functions).map(({ object }) => object)

  const entities = buildEntities(context, heads.value, links.value, groupByRow(scope, functions))
  const calls = buildFunctions(context, functions)
  const parts = {
    ...schemaPart(annotated),
    enums: enums.value.map((item) => item.facts),
    ...(composites && { composites: composites.value }),
    ...(annotated.readsClaims && { readsClaims: true as const }),
    ...(annotated.leaves !== undefined && { leaves: annotated.leaves }),
    ...(annotated.schemas.some(({ settings }) => settings.geo) && { geo: true as const }),
    entities: recallFacts(scope.schemas, entities.value, [], (entity) => entity.facts),
    functions: calls.value.map((call) => call.facts),
  }
  const typeSchemas = typeSchemaFacts(annotated, parts)
  const served = { ...parts, ...(typeSchemas.length > 0 && { typeSchemas }) }
  const manifest: Manifest = { ...served, ...rolesPart(rolePrivileges(annotated), served) }
  const diagnostics = once(() => [
    ...(composites?.diagnostics ?? []),
    ...[enums, heads, links, entities, calls].flatMap((pass) => pass.diagnostics),
    ...tellCollisions(manifest, functionNames(scope, functions)),
  ])
  const reports = annotated.schemas.some(({ settings }) => settings.schemaReport)
  const whole: Manifest = reports
    ? { ...manifest, report: buildReport(scope, annotated, manifest, [...annotated.told, ...diagnostics()]) }
    : manifest
  return {
    model: {
      manifest: whole,
      entities: byObject(recallSql(scope.schemas, entities.value, [], (entity) => entity.sql)),
      functions: byObject(calls.value.map((call) => call.sql)),
    },
    // Found out when asked for: a request that waits for the new schema need not wait for what is said about it.
    get diagnostics() {
      return diagnostics()
    },
  }
}

type SchemaPart = Pick<Manifest, 'format' | 'schemas' | 'validation' | 'refusal'> & AdditionFacts

/** One served schema is enough to switch the specification's rules off (spec/graphql.md 17). */
const schemaPart = (annotated: Annotated): SchemaPart => ({
  format: 1,
  schemas: annotated.schemas.map(schemaFacts),
  validation: annotated.schemas.every((schema) => schema.settings.validation),
  refusal: annotated.refusals.length === 0 ? null : annotated.refusals.map(refusalFacts),
  ...additionFacts(annotated.schemas),
})

const refusalFacts = (refusal: SchemaRefusal): RefusalFacts => ({
  message: refusal.message,
  usage: schemaUsage(refusal),
})

const schemaFacts = (schema: AnnotatedSchema): SchemaFacts => ({
  name: schema.name,
  introspection: schema.settings.introspection,
  usage: schemaUsage(schema),
})

const recallFacts = createListRecall<Entity, EntityFacts>()
const recallSql = createListRecall<Entity, EntitySql>()

function byObject<T extends { readonly id: ObjectId }>(items: readonly T[]): Readonly<Record<ObjectId, T>> {
  const record: Record<ObjectId, T> = {}
  for (const item of items) record[item.id] = item
  return record
}

const groupByRow = (scope: Scope, functions: readonly AnnotatedFunction[]): RowFunctions =>
  new Map(
    [...groupBy(functions, (fn) => rowArgument(scope, fn))].flatMap(([row, group]) =>
      row === undefined ? [] : [[row, group] as const],
    ),
  )
