import { objectId } from '../../../runtime/contract/facts.ts'
import type { AttributeFacts, CompositeFacts, Diagnostic, Manifest } from '../../../runtime/contract/manifest.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'
import { nameAttribute, nameType } from '../../catalog/catalog.ts'
import {
  diagnose,
  collectPresent,
  withDiagnostics,
  type WithDiagnostics,
} from '../../catalog/diagnostics/diagnostics.ts'
import type { Annotated, AnnotatedType } from '../../comments/annotated.ts'
import { columnField, isValidName, typeNameOf } from '../../model/names.ts'
import {
  additionsOfSchema,
  readValues,
  typeFacts,
  typeSchema,
  withoutOrder,
  type ValueFacts,
  type ValueScope,
} from '../../model/scalars.ts'
import { inOrder, type ModelScope, type ServedSchema } from '../../model/scope.ts'

/** A composite type of a served schema without a relation. */
const isCompositeType = (scope: ModelScope, type: AnnotatedType): boolean =>
  type.kind === 'c' && type.relation?.standAlone === true && scope.schemas.get(type.schema) !== undefined

const valueOf = (type: AnnotatedType): ValueFacts => ({
  ...withoutOrder,
  type: { kind: 'composite', id: objectId(type.schema, type.name), list: false },
  typeSchema: typeSchema(type),
  json: { kind: 'native' },
  filter: true,
})

export const compositeValue = (scope: ModelScope, type: AnnotatedType): ValueFacts | undefined =>
  isCompositeType(scope, type) ? valueOf(type) : undefined

/** The composite types of the served schemas (spec/graphql.md 17). */
export function buildComposites(
  memo: Memo,
  schemas: readonly ServedSchema[],
  scope: ValueScope,
  annotated: Annotated,
): WithDiagnostics<Pick<Manifest, 'composites'>> {
  const { value, diagnostics } = collectPresent(
    inOrder(schemas, annotated.types)
      .filter(({ object }) => isCompositeType(scope, object))
      .map(({ object, schema }) => memo.of(buildComposite, object, schema, scope)),
  )
  return withDiagnostics({ composites: value }, diagnostics)
}

function buildComposite(
  type: AnnotatedType,
  schema: ServedSchema,
  scope: ValueScope,
): WithDiagnostics<CompositeFacts | null> {
  const name = typeNameOf(type.settings.name, type.name, schema.inflects)
  if (!isValidName(name)) {
    const object = nameType(type.schema, type.name)
    return withDiagnostics(null, [diagnose('name-unusable', object, { name, what: 'its values have no fields' })])
  }
  const values = readValues(scope)
  const diagnostics: Diagnostic[] = []
  const fields = type.attributes.flatMap((attribute): AttributeFacts[] => {
    const field = columnField(null, attribute.name, schema.inflects)
    const value = values(attribute.type, additionsOfSchema(scope, type.schema))
    const object = nameAttribute(type.schema, type.name, attribute.name)
    if (value === null)
      diagnostics.push(diagnose('column-unmapped', object, { type: scope.types.get(attribute.type)?.text ?? '' }))
    else if (!isValidName(field)) diagnostics.push(diagnose('attribute-unusable', object, { name: field }))
    if (value === null || !isValidName(field)) return []
    return [{ attribute: attribute.name, field, ...typeFacts(value), filter: value.filter }]
  })
  // Of two with one field the later is used, as with columns (spec/graphql.md 2.4).
  const last = new Map(fields.map((item) => [item.field, item]))
  return withDiagnostics(
    { id: objectId(type.schema, type.name), schema: type.schema, name, fields: [...last.values()] },
    diagnostics,
  )
}
