import type { EntityFacts, Manifest } from '../../runtime/contract/manifest.ts'
import type { PartsAddition } from '../../runtime/contract/name-parts.ts'
import type { Form } from '../../runtime/sql/form.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { askedBy } from '../comments/additions.ts'
import { collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import type { Annotated, AnnotatedSchema } from '../comments/annotated.ts'
import type { Entity, RelationAddition } from './entities.ts'
import type { OutlineAddition } from './named-relations.ts'
import type { ValueScope } from './scalars.ts'
import type { ServedSchema, SwitchedAddition } from './scope.ts'

/** The part of the manifest that an addition (spec/graphql.md 17) derives from its settings. */
export interface ModelAddition extends PartsAddition, SwitchedAddition, OutlineAddition, RelationAddition {
  readonly forms?: readonly Form[]
  /** Fields of Query for a relation, whose names it claims. */
  readonly queryNames?: (entity: EntityFacts) => readonly string[]
  /** The same of Mutation. */
  readonly mutationNames?: (entity: EntityFacts) => readonly string[]
  /** Facts about the API as a whole, where the settings of its name ask for some: the manifest of all others stays as it was. */
  readonly manifestFacts?: (schemas: readonly AnnotatedSchema[]) => Partial<Manifest>
  readonly typeFacts?: (
    memo: Memo,
    schemas: readonly ServedSchema[],
    scope: ValueScope,
    annotated: Annotated,
  ) => WithDiagnostics<Partial<Manifest>>
  /** Facts of relations about all of them together. */
  readonly wholeFacts?: (memo: Memo, annotated: Annotated, entities: readonly Entity[]) => readonly Entity[]
  /** Facts of which the manifest says whether some relation or another part of it has them. */
  readonly marks?: readonly Mark[]
  /** Requests may ask for a report of the schemas that have its setting. */
  readonly reports?: true
}

type Mark = {
  [Fact in keyof EntityFacts & keyof Manifest]: Manifest[Fact] extends true | undefined ? Fact : never
}[keyof EntityFacts & keyof Manifest]

export const manifestFacts = (
  additions: readonly ModelAddition[],
  schemas: readonly AnnotatedSchema[],
): Partial<Manifest> =>
  Object.assign(
    {},
    ...additions
      .filter(({ manifestFacts: make }) => make)
      .map((one) => (schemas.some((schema) => isAsked(schema, one)) ? one.manifestFacts?.(schemas) : {})),
  )

export function typeParts(
  memo: Memo,
  additions: readonly ModelAddition[],
  schemas: readonly ServedSchema[],
  scope: ValueScope,
  annotated: Annotated,
): WithDiagnostics<Partial<Manifest>> {
  const asked = additions.filter((one) => annotated.schemas.some((schema) => isAsked(schema, one)))
  const made = collectPresent(asked.flatMap((one) => one.typeFacts?.(memo, schemas, scope, annotated) ?? []))
  return withDiagnostics(Object.assign({}, ...made.value), made.diagnostics)
}

const isAsked = (schema: AnnotatedSchema, addition: ModelAddition): boolean => askedBy(schema, [addition]).length > 0

export function* marksOf(
  memo: Memo,
  entities: readonly EntityFacts[],
  others: readonly object[],
  additions: readonly ModelAddition[],
): Steps<Partial<Manifest>> {
  const all = additions.flatMap(({ marks = [] }) => marks)
  const found = [...new Set(yield* memo.map(marksOfEntity, entities, ...all))].flat()
  return Object.fromEntries([...found, ...marksAmong(others, all)].map((mark) => [mark, true]))
}

const marksOfEntity = (entity: EntityFacts, ...marks: readonly Mark[]): readonly Mark[] =>
  marksAmong([entity, ...entity.columns, ...entity.computed], marks)

const marksAmong = (parts: readonly object[], marks: readonly Mark[]): readonly Mark[] =>
  marks.filter((mark) => parts.some((part) => mark in part))

export const reportedSchemas = (
  additions: readonly ModelAddition[],
  schemas: readonly AnnotatedSchema[],
): readonly string[] =>
  schemas
    .filter((schema) => additions.some((one) => one.reports === true && isAsked(schema, one)))
    .map(({ name }) => name)
