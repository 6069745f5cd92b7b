import { idOf } from '../../runtime/contract/facts.ts'
import { compareBytes } from '../../runtime/lib/text.ts'
import { withoutMemory, type Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { viewOf, type Table } from '../../runtime/lib/memo/tables.ts'
import type {
  Diagnostic,
  EntityFacts,
  EnumFacts,
  FunctionFacts,
  Manifest,
  ObjectId,
  RefusalFacts,
  SchemaFacts,
  ReportFacts,
} from '../../runtime/contract/manifest.ts'
import type { Annotated, AnnotatedFunction, AnnotatedSchema, SchemaRefusal } from '../comments/annotated.ts'
import { manifestFacts, marksOf, reportedSchemas, typeParts, type ModelAddition } from './additions.ts'
import { collisionDiagnostics } from './collisions.ts'
import { placedFunction, type PlacedFunction, functionNames, buildFunctions, type RootFunction } from './functions.ts'
import {
  crossingDiagnostics,
  withoutLoosened,
  sentDefaultsDiagnostics,
  withSentDefaults,
  withTenants,
} from './distributed.ts'
import { buildEntities, type Entity, type EntityScope } from './entities.ts'
import { buildEnums, type ServedEnum } from './enums.ts'
import { formFacts } from './filter-forms.ts'
import { nameRelations } from './named-relations.ts'
import { buildLinks } from './foreign-keys.ts'
import { schemaUsage, privilegesByRole, rolesPart, typeSchemaFacts } from './privileges.ts'
import { buildReport } from './report-facts.ts'
import type { FunctionScope } from './signatures.ts'
import type { ValueScope } from './scalars.ts'
import { inOrder, readScope, servedSchema, type ModelScope, type ServedSchema } from './scope.ts'
import type { CallSql, EntitySql, Model } from './model.ts'

export interface Built {
  readonly model: Model
  /** Computed on demand: a request that waits for the new schema need not wait for diagnostics. */
  readonly diagnose: () => Steps<readonly Diagnostic[]>
  /** The same, of all schemas: the facts for a report on any role (spec/graphql.md 17, `schemaReport`). */
  readonly report: () => Steps<ReportFacts>
}

/** The facts about what can be watched (spec/graphql.md 16.1), with which the passes go on. */
export interface WatchedFacts {
  readonly entities: (
    memo: Memo,
    scope: ModelScope,
    annotated: Annotated,
    entities: readonly Entity[],
  ) => readonly Entity[]
  readonly calls: (
    scope: ModelScope,
    annotated: Annotated,
    functions: readonly FunctionFacts[],
  ) => readonly FunctionFacts[]
  readonly diagnostics: (annotated: Annotated) => readonly Diagnostic[]
}

/**
 * Builds the API, pass by pass: enums, types of values, relations with their keys, foreign keys between them, and the
 * dependants of both: entities and functions. The order of unordered lists is irrelevant.
 *
 * @param watched absent: no relation is live
 */
export function* buildModel(
  annotated: Annotated,
  additions: readonly ModelAddition[],
  memo: Memo = withoutMemory,
  watched?: WatchedFacts,
): Steps<Built> {
  const schemas = yield* memo.each(servedSchema, annotated.schemas, additions)
  const types = readScope(memo, annotated, schemas)
  const enums = buildEnums(memo, schemas, annotated)
  const values: ValueScope = { ...types, enums: new Map(enums.value.map((item) => [item.facts.id, item])) }
  const typed = typeParts(memo, additions, schemas, values, annotated)
  const relations = withoutLoosened(annotated)
  const namedRelations = yield* nameRelations(memo, schemas, types, relations.value, additions)
  const byId = memo.table(idOf, namedRelations.value)
  const links = yield* buildLinks(memo, namedRelations.value, byId, types)
  const scope: FunctionScope = { ...values, namedRelations: byId }
  const functions = memo.one(functionsInOrder, schemas, annotated.functions)
  const placedFunctions = yield* memo.each(placedFunction, functions, scope)
  const rowFunctions = memo.one(functionsByRow, memo, yield* memo.groups(rowOf, placedFunctions))
  const entityScope: EntityScope = { ...scope, relationLinks: links.value, rowFunctions }
  const entities = yield* buildEntities(memo, namedRelations.value, entityScope, additions)
  const calls = yield* buildFunctions(memo, scope, placedFunctions)
  const facts = yield* memo.map(callFacts, calls.value)
  const marked = additions.reduce((all, one) => one.wholeFacts?.(memo, annotated, all) ?? all, entities.value)
  const whole = withSentDefaults(annotated, types.types, withTenants(annotated, marked))
  const placed = watched === undefined ? whole : watched.entities(memo, scope, annotated, whole)
  const entityFacts = yield* memo.map(factsOfEntity, placed)
  const servedEnums = yield* memo.map(enumFacts, enums.value)
  const parts = {
    ...schemaPart(annotated, additions),
    enums: servedEnums,
    ...typed.value,
    ...(annotated.readsClaims && { readsClaims: true as const }),
    ...(annotated.leaves !== undefined && { leaves: annotated.leaves }),
    ...(annotated.distributed !== undefined && { distributed: { bypassing: bypassing(annotated) } }),
    ...(yield* formFacts(memo, annotated.types, typed.value.composites ?? [], entityFacts, additions)),
    ...(yield* marksOf(memo, entityFacts, [...facts, ...servedEnums.flatMap(({ values }) => values)], additions)),
    entities: entityFacts,
    functions: watched === undefined ? facts : watched.calls(scope, annotated, facts),
  }
  const typeSchemas = yield* typeSchemaFacts(memo, annotated, parts)
  const served = { ...parts, ...(typeSchemas.length > 0 && { typeSchemas }) }
  const manifest: Manifest = { ...served, ...(yield* rolesPart(memo, privilegesByRole(memo, annotated), served)) }
  function* diagnose(): Steps<readonly Diagnostic[]> {
    const ofPasses: (readonly Diagnostic[])[] = []
    for (const pass of [relations, enums, namedRelations, links, entities, calls]) {
      ofPasses.push(pass.diagnostics)
      yield
    }
    return [
      ...typed.diagnostics,
      ...ofPasses.flat(),
      ...(yield* collisionDiagnostics(memo, manifest, additions, functionNames(scope, functions))),
      ...(watched?.diagnostics(annotated) ?? []),
      ...crossingDiagnostics(annotated, links.value),
      ...sentDefaultsDiagnostics(annotated, types.types),
    ]
  }
  function* reportOn(names: readonly string[]): Steps<ReportFacts> {
    const diagnostics = [...annotated.diagnostics, ...(yield* diagnose())]
    return buildReport(scope, schemas, annotated, manifest, names, diagnostics)
  }
  const asked = reportedSchemas(additions, annotated.schemas)
  const report = asked.length > 0 && (yield* reportOn(asked))
  return {
    model: {
      manifest: report ? { ...manifest, report } : manifest,
      entities: yield* memo.map(sqlOf, placed),
      functions: yield* memo.map(callSql, calls.value),
    },
    diagnose,
    report: () => reportOn(annotated.schemas.map(({ name }) => name)),
  }
}

type SchemaPart = Partial<Manifest> & Pick<Manifest, 'format' | 'schemas' | 'validation' | 'refusal'>

/** One served schema is enough to switch validation off (spec/graphql.md 17). */
const schemaPart = (annotated: Annotated, additions: readonly ModelAddition[]): SchemaPart => ({
  format: 1,
  schemas: annotated.schemas.map(schemaFacts),
  validation: annotated.schemas.every((schema) => schema.settings.validation),
  refusal: annotated.refusals.length === 0 ? null : annotated.refusals.map(refusalFacts),
  ...manifestFacts(additions, annotated.schemas),
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

const factsOfEntity = ({ facts }: Entity): EntityFacts => facts
const sqlOf = ({ sql }: Entity): EntitySql => sql

const callFacts = ({ facts }: RootFunction): FunctionFacts => facts
const callSql = ({ sql }: RootFunction): CallSql => sql
const enumFacts = ({ facts }: ServedEnum): EnumFacts => facts
const functionsInOrder = (
  schemas: readonly ServedSchema[],
  functions: readonly AnnotatedFunction[],
): readonly AnnotatedFunction[] => inOrder(schemas, functions).map(({ object }) => object)

const rowOf = ({ row }: PlacedFunction): readonly ObjectId[] => (row === undefined ? [] : [row])

/** Functions whose first argument is a row, by its relation. */
const functionsByRow = (memo: Memo, groups: Table<readonly PlacedFunction[]>): Table<readonly AnnotatedFunction[]> =>
  viewOf(groups, (group) => memo.of(functionsIn, group))

const functionsIn = (group: readonly PlacedFunction[]): readonly AnnotatedFunction[] => group.map(({ fn }) => fn)
