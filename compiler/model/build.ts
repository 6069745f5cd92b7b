import { groupBy } from '../../runtime/lib/group-by.ts'
import { once } from '../../runtime/lib/once.ts'
import type { Manifest, ObjectId, SchemaFacts } from '../../runtime/contract/manifest.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import type { Annotated, AnnotatedFunction, AnnotatedSchema } from '../comments/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { gather } from '../report/noted.ts'
import { additionFacts, type AdditionFacts } from './additions.ts'
import { tellCollisions } from './collisions.ts'
import { rowArgument } from './computed.ts'
import { buildComposites } from './composites.ts'
import { buildEntity, type Entity } from './entities.ts'
import { buildEnums } from './enums.ts'
import { buildFunctions, type RootFunction } from './functions.ts'
import { buildHeads } from './heads.ts'
import { buildLinks, unlinked, type Sides } from './links.ts'
import { schemaUsage } from './privileges.ts'
import { buildReport } from './report.ts'
import type { ResultContext } from './results.ts'
import { neededRoles } from './roles.ts'
import { readValues } from './scalars.ts'
import { inOrder, readScope, type Scope } from './scope.ts'
import type { Model } from './types.ts'

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
  const byId = new Map(heads.value.map((head) => [head.id, head]))
  const links = buildLinks(scope, byId)
  const context: ResultContext = { scope, values, heads: byId }
  const functions = inOrder(scope, annotated.functions).map(({ object }) => object)

  const sidesOf = (id: ObjectId): Sides => links.value.get(id) ?? unlinked
  const functionsOf = groupByRow(scope, functions)
  const entities = gather(
    heads.value.map((head) => buildEntity(context, head, { sides: sidesOf(head.id), functions: functionsOf(head.id) })),
  )
  const calls = buildFunctions(context, functions)
  const served = {
    ...schemaPart(annotated),
    enums: enums.value.map((item) => item.facts),
    ...(composites && { composites: composites.value }),
    ...(annotated.schemas.some(({ settings }) => settings.geo) && { geo: true as const }),
    entities: entities.value.map((entity) => entity.facts),
    functions: calls.value.map((call) => call.facts),
  }
  const manifest: Manifest = { ...served, roles: neededRoles(rolePrivileges(annotated), served) }
  const diagnostics = once(() => [
    ...(composites?.diagnostics ?? []),
    ...[enums, heads, links, entities, calls].flatMap((pass) => pass.diagnostics),
    ...tellCollisions(manifest),
  ])
  const reports = annotated.schemas.some(({ settings }) => settings.schemaReport)
  const whole: Manifest = reports
    ? { ...manifest, report: buildReport(scope, annotated, manifest, [...annotated.told, ...diagnostics()]) }
    : manifest
  return {
    model: { manifest: whole, entities: entitySql(entities.value), functions: callSql(calls.value) },
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
  refusal: annotated.refusal,
  ...additionFacts(annotated.schemas),
})

const schemaFacts = (schema: AnnotatedSchema): SchemaFacts => ({
  name: schema.name,
  introspection: schema.settings.introspection,
  usage: schemaUsage(schema),
})

function groupByRow(
  scope: Scope,
  functions: readonly AnnotatedFunction[],
): (entity: ObjectId) => readonly AnnotatedFunction[] {
  const groups = groupBy(functions, (fn) => rowArgument(scope, fn))
  return (entity) => groups.get(entity) ?? []
}

const entitySql = (entities: readonly Entity[]): Model['entities'] =>
  Object.fromEntries(entities.map(({ sql }) => [sql.id, sql]))

const callSql = (functions: readonly RootFunction[]): Model['functions'] =>
  Object.fromEntries(functions.map(({ sql }) => [sql.id, sql]))
