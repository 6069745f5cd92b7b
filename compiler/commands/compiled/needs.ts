import type { EntityFacts, ObjectId } from '../../../runtime/contract/manifest.ts'
import type { EntityBuilder } from '../../../runtime/contract/builder.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import type { CompiledOperation, DocumentNeeds } from '../../../runtime/graphql/compiled/format.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import { ident } from '../../../runtime/sql/ident.ts'

type NeededColumns = DocumentNeeds['relations'][string][string]

export interface NeedsRecorder {
  /** For writing statements. */
  readonly engine: Engine
  /** The needs of the operations written since the last call. */
  readonly of: (operations: readonly CompiledOperation[]) => DocumentNeeds
}

export function recordingNeeds(engine: Engine): NeedsRecorder {
  const entities = new Set<ObjectId>()
  const calls = new Set<ObjectId>()
  const noting =
    <T>(ids: Set<ObjectId>, find: (id: ObjectId) => T) =>
    (id: ObjectId): T => {
      ids.add(id)
      return find(id)
    }
  const facts = new Map(engine.manifest.entities.map((entity) => [entity.id, entity]))
  return {
    engine: { ...engine, entity: noting(entities, engine.entity), call: noting(calls, engine.call) },
    of: (operations) => {
      const texts = operations.flatMap(statementTexts)
      const named = [...entities].toSorted().flatMap((id) => facts.get(id) ?? [])
      const relations = Object.fromEntries(
        [...groupBy(named, ({ schema }) => schema)].map(([schema, found]) => [
          schema,
          Object.fromEntries(
            found.map((entity) => [entity.relation, columnsNamed(entity, engine.entity(entity.id), texts)]),
          ),
        ]),
      )
      const computed = [...entities].flatMap((id) => facts.get(id)?.computed ?? []).map(({ id }) => id)
      const functions = [...calls, ...computed]
        .map((id) => JSON.parse(id) as [string, string])
        .filter(([schema, name]) => names(texts, `${ident(schema)}.${ident(name)}(`))
      entities.clear()
      calls.clear()
      return { relations, functions: [...new Map(functions.map((one) => [one.join('.'), one])).values()].toSorted() }
    },
  }
}

const statementTexts = ({ shapes }: CompiledOperation): readonly string[] =>
  Object.values(shapes)
    .flatMap((shape) => ('statements' in shape ? shape.statements : []))
    .flatMap(({ text }) => text)
    .filter((part) => typeof part === 'string')

/** A name with another meaning adds an unnecessary need, and never removes one. */
const names = (texts: readonly string[], name: string): boolean => texts.some((text) => text.includes(name))

const columnsNamed = ({ columns }: EntityFacts, builder: EntityBuilder, texts: readonly string[]): NeededColumns =>
  Object.fromEntries(
    columns.filter(({ column }) => names(texts, ident(column))).map(({ column }) => [column, typeOf(builder, column)]),
  )

/** The cast of a column's written value; null: a function makes it. */
const typeOf = ({ columns }: EntityBuilder, column: string): string | null =>
  /^\(\)::(.+)$/.exec(columns[column]?.fromRecord('') ?? '')?.[1] ?? null
