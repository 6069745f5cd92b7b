import { atOnce } from '../../../runtime/lib/steps.ts'
import type { Catalog } from '../../../compiler/catalog/catalog.ts'
import type { Model } from '../../../compiler/model/model.ts'
import type {
  ColumnFacts,
  Diagnostic,
  EntityFacts,
  FunctionFacts,
  Manifest,
  RelationFacts,
} from '../../../runtime/contract/manifest.ts'
import { catalog } from '../../support/catalog-literal.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

/** A model, and short ways to what tests look at. */
export interface Built {
  readonly model: Model
  readonly manifest: Manifest
  readonly diagnostics: readonly Diagnostic[]
  readonly codes: readonly string[]
  readonly entity: (relation: string) => EntityFacts
  readonly column: (relation: string, name: string) => ColumnFacts
  readonly relation: (relation: string, field: string) => RelationFacts
  readonly functionFields: readonly string[]
  readonly call: (field: string) => FunctionFacts
}

const present = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(`the model has no ${what}`)
  return value
}

export const build = (over: Partial<Catalog>): Built => buildFrom(catalog(over))

export function buildFrom(given: Catalog): Built {
  const { annotated, diagnostics: comments } = atOnce(annotate(given))
  const { model, diagnose } = atOnce(buildModel(annotated))
  const { manifest } = model
  const diagnostics = [...comments, ...atOnce(diagnose())]
  const entity = (relation: string): EntityFacts =>
    present(
      manifest.entities.find((item) => item.relation === relation),
      relation,
    )
  return {
    model,
    manifest,
    diagnostics,
    codes: diagnostics.map((diagnostic) => diagnostic.code),
    entity,
    column: (relation, name) =>
      present(
        entity(relation).columns.find((item) => item.column === name),
        name,
      ),
    relation: (relation, field) =>
      present(
        entity(relation).relations.find((item) => item.field === field),
        field,
      ),
    functionFields: manifest.functions.map((item) => item.field),
    call: (field) =>
      present(
        manifest.functions.find((item) => item.field === field),
        field,
      ),
  }
}
