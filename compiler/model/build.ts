import { compareBytes } from '../../runtime/lib/byte-order.ts'
import { groupBy } from '../../runtime/lib/group-by.ts'
import { once } from '../../runtime/lib/once.ts'
import { withoutMemory, type Memo } from '../../runtime/lib/memo.ts'
import type {
  Diagnostic,
  EntityFacts,
  Manifest,
  ObjectId,
  RefusalFacts,
  SchemaFacts,
} from '../../runtime/contract/manifest.ts'
import { rolePrivileges } from '../catalog/privileges.ts'
import type { Annotated, AnnotatedFunction, AnnotatedSchema, SchemaRefusal } from '../comments/types.ts'
import { additionFacts, type AdditionFacts } from './additions.ts'
import { collisionDiagnostics } from './collisions.ts'
import { rowArgument } from './computed.ts'
import { buildComposites } from './composites.ts'
import { buildEntities, type Entity, type EntityScope } from './entities.ts'
import { buildEnums } from './enums.ts'
import { functionNames } from './function-names.ts'
import { buildFunctions } from './functions.ts'
import { nameRelations, type NamedRelation } from './named-relations.ts'
import { buildLinks } from './links.ts'
import { watchedCalls, watchedEntities, type Watched } from './live.ts'
import { schemaUsage } from './privileges.ts'
import { buildReport } from './report.ts'
import { resultContext, type FunctionScope } from './results.ts'
import { withoutLoosened } from './restrictive.ts'
import { rolesPart } from './roles.ts'
import type { ValueScope } from './scalars.ts'
import { inOrder, readScope, servedSchema } from './scope.ts'
import type { EntitySql, Model } from './types.ts'
import { withTenants } from './tenants.ts'
import { typeSchemaFacts } from './type-schemas.ts'

/**
 * Decides what the API will be, pass by pass: enums, values of types, relations with their keys, foreign keys between
 * them, and what hangs on both: entities and functions. The order of lists that mean nothing does not matter.
 *
 * @param watched what can be watched; left out: nothing is live
 */
export function buildModel(
  annotated: Annotated,
  memo: Memo = withoutMemory,
  watched?: Watched,
): { model: Model; diagnostics: readonly Diagnostic[] } {
  const schemas = memo.each(servedSchema, annotated.schemas)
  const types = readScope(annotated, schemas)
  const enums = buildEnums(memo, schemas, annotated)
  const values: ValueScope = { ...types, enums: new Map(enums.value.map((item) => [item.facts.id, item])) }
  const composites = buildComposites(memo, schemas, values, annotated)
  const relations = withoutLoosened(annotated)
  const namedRelations = nameRelations(memo, schemas, types, relations.value)
  const byId = new Map(namedRelations.value.map((named) => [named.id, named]))
  const links = buildLinks(memo, namedRelations.value, byId)
  const scope: FunctionScope = { ...values, namedRelations: byId }
  const functions = inOrder(schemas, annotated.functions).map(({ object }) => object)
  const rowFunctions = groupByRow(memo, scope, functions)
  const entityScope: EntityScope = { ...scope, relationLinks: links.value, rowFunctions }
  const entities = buildEntities(memo, namedRelations.value, entityScope)
  const calls = buildFunctions(resultContext(scope), functions)
  const callFacts = calls.value.map((call) => call.facts)
  const whole = withTenants(annotated, entities.value)
  const placed = watched === undefined ? whole : watchedEntities(memo, scope, annotated, watched, whole)
  const parts = {
    ...schemaPart(annotated),
    enums: enums.value.map((item) => item.facts),
    ...(composites && { composites: composites.value }),
    ...(annotated.readsClaims && { readsClaims: true as const }),
    ...(annotated.leaves !== undefined && { leaves: annotated.leaves }),
    ...(annotated.distributed !== undefined && { distributed: { bypassing: bypassing(annotated) } }),
    ...(annotated.schemas.some(({ settings }) => settings.geo) && { geo: true as const }),
    entities: memo.map(factsOf, placed),
    functions: watched === undefined ? callFacts : watchedCalls(scope, annotated, watched, callFacts),
  }
  const typeSchemas = typeSchemaFacts(memo, annotated, parts)
  const served = { ...parts, ...(typeSchemas.length > 0 && { typeSchemas }) }
  const manifest: Manifest = { ...served, ...rolesPart(memo, rolePrivileges(annotated), served) }
  const diagnostics = once(() => [
    ...(composites?.diagnostics ?? []),
    ...[relations, enums, namedRelations, links, entities, calls].flatMap((pass) => pass.diagnostics),
    ...collisionDiagnostics(memo, manifest, functionNames(scope, functions)),
  ])
  const reports = annotated.schemas.some(({ settings }) => settings.schemaReport)
  const reported: Manifest = reports
    ? { ...manifest, report: buildReport(scope, schemas, annotated, manifest, [...annotated.told, ...diagnostics()]) }
    : manifest
  return {
    model: {
      manifest: reported,
      entities: byObject(memo.map(sqlOf, placed)),
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

const bypassing = ({ roles }: Annotated): readonly string[] =>
  roles
    .filter(({ bypassRls }) => bypassRls)
    .map(({ name }) => name)
    .sort(compareBytes)

const factsOf = ({ facts }: Entity): EntityFacts => facts
const sqlOf = ({ sql }: Entity): EntitySql => sql

function byObject<T extends { readonly id: ObjectId }>(items: readonly T[]): Readonly<Record<ObjectId, T>> {
  const record: Record<ObjectId, T> = {}
  for (const item of items) record[item.id] = item
  return record
}

/** Functions whose first argument is a row, by its relation. */
const groupByRow = (
  memo: Memo,
  scope: FunctionScope,
  functions: readonly AnnotatedFunction[],
): ReadonlyMap<ObjectId, readonly AnnotatedFunction[]> =>
  new Map(
    [...groupBy(functions, (fn) => rowArgument(scope, fn))].flatMap(([row, group]) => {
      const named = row === undefined ? undefined : scope.namedRelations.get(row)
      return named === undefined ? [] : [[named.id, memo.of(functionsOf, named, ...group)] as const]
    }),
  )

/** The same list as long as it holds the same. */
const functionsOf = (_: NamedRelation, ...functions: readonly AnnotatedFunction[]): readonly AnnotatedFunction[] =>
  functions
