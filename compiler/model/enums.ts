import type { Memo } from '../../runtime/lib/memo/memo.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Deprecable, Diagnostic, EnumFacts } from '../../runtime/contract/manifest.ts'
import type { Annotated, AnnotatedType } from '../comments/annotated.ts'
import type { LabelFacts } from '../comments/settings.ts'
import { diagnose, collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameType } from '../catalog/catalog.ts'
import { isValidEnumValue, isValidName, typeNameOf } from './names.ts'
import { typeUsage } from './privileges.ts'
import { inOrder, type ServedSchema } from './scope.ts'

/** An enum in the API, with every mapped label (including values that are left out). */
export interface ServedEnum {
  readonly facts: EnumFacts
  readonly mappings: readonly (readonly [label: string, name: string])[]
}

/**
 * The enums of the served schemas (spec/graphql.md 3.2). One without a valid GraphQL name or without any valid label is
 * left out; its values are then Opaque, like those of other enums.
 */
export const buildEnums = (
  memo: Memo,
  schemas: readonly ServedSchema[],
  { types }: Annotated,
): WithDiagnostics<readonly ServedEnum[]> =>
  collectPresent(
    inOrder(
      schemas,
      types.filter(({ kind }) => kind === 'e'),
    ).map(({ object, schema }) => memo.of(buildEnum, object, schema.inflects)),
  )

function buildEnum(type: AnnotatedType, inflected: boolean): WithDiagnostics<ServedEnum | null> {
  const object = nameType(type.schema, type.name)
  const name = typeNameOf(type.settings.name, type.name, inflected)
  if (!isValidName(name)) {
    return withDiagnostics(null, [diagnose('name-unusable', object, { name, what: 'its values are served as Opaque' })])
  }
  const labels = readLabels(type, object)
  const { values, mappings } = labels.value
  if (values.length === 0) return withDiagnostics(null, [...labels.diagnostics, diagnose('enum-empty', object, {})])
  const facts: EnumFacts = {
    id: objectId(type.schema, type.name),
    schema: type.schema,
    name,
    values,
    mapped: mappings.length > 0,
    usage: typeUsage(type),
  }
  return withDiagnostics({ facts, mappings }, labels.diagnostics)
}

interface Labels {
  readonly values: EnumFacts['values']
  readonly mappings: ServedEnum['mappings']
}

function readLabels(type: AnnotatedType, object: string): WithDiagnostics<Labels> {
  const names = new Map(type.settings.mappings ?? [])
  const renamed = type.labels.map((label) => ({
    label,
    name: names.get(label) ?? label,
    ...factsOfLabel(type.facts, label),
  }))
  const stated = [...names, ...Object.values(type.facts ?? {}).flat()]
  const problems = renamed.map((value, index) => labelProblem(value, renamed.slice(0, index)))
  const mappings = renamed
    .filter(({ label, name }) => name !== label && isValidEnumValue(name))
    .map(({ label, name }) => [label, name] as const)
  return withDiagnostics({ values: renamed.filter((_, index) => problems[index] === null), mappings }, [
    ...[...new Set(stated.map(([label]) => label))]
      .filter((label) => !type.labels.includes(label))
      .map((label) => diagnose('label-unknown', object, { label, labels: type.labels })),
    ...renamed.flatMap((value, index) => labelDiagnostics(object, value, problems[index] ?? null)),
  ])
}

const factsOfLabel = (facts: LabelFacts = {}, wanted: string): Deprecable =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([fact, pairs]) =>
      pairs.flatMap(([label, value]) => (label === wanted ? [[fact, value]] : [])),
    ),
  )

type Value = EnumFacts['values'][number]

function labelProblem({ name }: Value, before: readonly Value[]): string | null {
  if (!isValidEnumValue(name)) return 'is no valid name of a GraphQL enum value'
  return before.some((other) => other.name === name) ? 'is the name of an earlier value' : null
}

const labelDiagnostics = (object: string, value: Value, why: string | null): readonly Diagnostic[] =>
  why === null ? [] : [diagnose('label-unusable', object, { ...value, why })]
