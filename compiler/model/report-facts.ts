import type {
  Diagnostic,
  Manifest,
  ReportedFunction,
  ReportedRelation,
  ReportFacts,
} from '../../runtime/contract/manifest.ts'
import { broughtByExtension, type Missing } from '../../runtime/contract/brought.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import { compareBytes } from '../../runtime/lib/text.ts'
import { groupBy } from '../../runtime/lib/steps.ts'
import type { Annotated, AnnotatedFunction, AnnotatedRelation } from '../comments/annotated.ts'
import { nameFunction, nameRelation, relationWord } from '../catalog/catalog.ts'
import { rowArgument, functionIdentities } from './functions.ts'
import { inOrder, type ModelScope, type ServedSchema } from './scope.ts'

/**
 * Every relation and function of these schemas (spec/graphql.md 17, `schemaReport`), with the reason if no API has it.
 * The reason for one role is found when that role asks.
 */
export function buildReport(
  scope: ModelScope,
  order: readonly ServedSchema[],
  annotated: Annotated,
  manifest: Pick<Manifest, 'entities' | 'functions'>,
  schemas: readonly string[],
  diagnostics: readonly Diagnostic[],
): ReportFacts {
  const asked = <T extends { readonly schema: string; readonly name: string }>(objects: readonly T[]): readonly T[] =>
    inOrder(order, objects)
      .map(({ object }) => object)
      .filter(({ schema }) => schemas.includes(schema))
  const functions = annotated.functions.filter(({ schema }) => schemas.includes(schema)).sort(bySignature)
  const byObject = groupBy(diagnostics, ({ object }) => object)
  const variants = groupBy(annotated.functions, ({ name }) => name)
  const isOverloaded = ({ name }: AnnotatedFunction): boolean => (variants.get(name)?.length ?? 0) > 1
  return {
    schemas,
    relations: asked(annotated.relations).map((relation) => reportedRelation(manifest, relation, byObject)),
    functions: asked(functions).map((fn) => functionOf(scope, manifest, fn, isOverloaded(fn), byObject)),
    remarks: diagnostics.map(({ code, severity, object, message, fix }) => ({ code, severity, object, message, fix })),
  }
}

/** The catalogue lists those of one name in creation order. */
const bySignature = (a: AnnotatedFunction, b: AnnotatedFunction): number =>
  compareBytes(nameFunction(a), nameFunction(b))

type DiagnosticsByObject = ReadonlyMap<string, readonly Diagnostic[]>

function reportedRelation(
  { entities }: Pick<Manifest, 'entities'>,
  relation: AnnotatedRelation,
  byObject: DiagnosticsByObject,
): ReportedRelation {
  const { schema, name } = relation
  const id = objectId(schema, name)
  const entity = entities.find((item) => item.id === id)
  const object = nameRelation(relation)
  const { ofExtension } = relation
  const kind = relationWord(relation.kind)
  const base = { object, kind, schema, name, ...(ofExtension !== undefined && { ofExtension }) }
  const isLoosened = byObject.get(object)?.some(({ code }) => code === 'policies-loosened')
  if (isLoosened) return { ...base, entity: null, missing: why('not served', byObject, object, ['policies-loosened']) }
  if (entity === undefined)
    return { ...base, entity: null, missing: why('unusable name', byObject, object, ['name-unusable']) }
  if (entity.key.length > 0) return { ...base, entity: id, missing: null }
  if (ofExtension !== undefined) return { ...base, entity: id, missing: broughtByExtension }
  return { ...base, entity: id, missing: why('no primary key', byObject, object, ['no-key', 'key-column-unknown']) }
}

/** Trigger functions are skipped by every other pass. */
function functionOf(
  scope: ModelScope,
  manifest: Pick<Manifest, 'entities' | 'functions'>,
  fn: AnnotatedFunction,
  overloaded: boolean,
  byObject: DiagnosticsByObject,
): ReportedFunction {
  const { schema, name } = fn
  const base = {
    object: nameFunction(fn),
    schema,
    name,
    arguments: fn.args.map(({ typeText }) => typeText),
    ...(fn.ofExtension !== undefined && { ofExtension: fn.ofExtension }),
  }
  const facts = reportedFacts(manifest, rowArgument(scope, fn) ?? null, fn)
  if (facts !== null) return { ...base, facts, missing: null }
  if (fn.ofExtension !== undefined) return { ...base, facts: null, missing: broughtByExtension }
  const missing = overloaded
    ? why('overloaded function', byObject, base.object, ['function-hidden'])
    : why('not served', byObject, base.object, ['function-hidden', 'field-taken', 'node-id-kept'])
  return { ...base, facts: null, missing }
}

function reportedFacts(
  { entities, functions }: Pick<Manifest, 'entities' | 'functions'>,
  row: ReportedFacts['row'],
  fn: AnnotatedFunction,
): ReportedFacts | null {
  const place = row === null ? functions : (entities.find(({ id }) => id === row)?.computed ?? [])
  const ids = functionIdentities(fn)
  const found = place.find(({ id }) => ids.includes(id))
  return found === undefined ? null : { row, id: found.id }
}

type ReportedFacts = NonNullable<ReportedFunction['facts']>

/** The reason in the words of the interface, and the compiler's diagnostic about it. */
function why(reason: string, byObject: DiagnosticsByObject, object: string, codes: readonly string[]): Missing {
  const said = byObject.get(object)?.find(({ code }) => codes.includes(code))
  return {
    reason,
    message: said?.message ?? 'It is a trigger function.',
    fix: said?.fix ?? 'Nothing needs to be done.',
  }
}
