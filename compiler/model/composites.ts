import type { Memo } from '../../runtime/lib/memo/memo.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { AttributeFacts, CompositeFacts, Diagnostic } from '../../runtime/contract/manifest.ts'
import type { Annotated, AnnotatedType } from '../comments/annotated.ts'
import { type Oid, nameAttribute, nameType } from '../catalog/catalog.ts'
import {
  orderSql,
  additionsOfSchema,
  isCompositeType,
  lookThrough,
  readValues,
  typeFacts,
  type ValueAdditions,
  type Values,
  type ValueScope,
  castText,
  readAs,
  sqlType,
} from './scalars.ts'
import { diagnose, collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { columnField, isValidName, typeNameOf } from './names.ts'
import { inOrder, type ModelScope, type ServedSchema } from './scope.ts'
import type { AttributeSql } from './model.ts'

/** The composite types of the served schemas (`composites`, spec/graphql.md 17). */
export function buildComposites(
  memo: Memo,
  schemas: readonly ServedSchema[],
  scope: ValueScope,
  annotated: Annotated,
): WithDiagnostics<readonly CompositeFacts[]> {
  return collectPresent(
    inOrder(schemas, annotated.types)
      .filter(({ object }) => isCompositeType(scope, object))
      .map(({ object, schema }) => memo.of(buildComposite, object, schema, scope)),
  )
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

/** How the attributes of a composite value are read and compared; absent for all other types. */
export function attributesOf(
  scope: ModelScope,
  values: Values,
  oid: Oid,
  asked: ValueAdditions,
): { readonly attributes?: readonly AttributeSql[] } {
  const type = lookThrough(scope, oid, asked)
  if (!asked.composites || type === undefined || !isCompositeType(scope, type)) return {}
  const own = additionsOfSchema(scope, type.schema)
  return {
    attributes: type.attributes.flatMap((attribute): AttributeSql[] => {
      const value = values(attribute.type, own)
      const text = scope.types.get(attribute.type)?.text
      if (value === null || text === undefined) return []
      const read = readAs(scope, attribute.type, own)
      const texts = sqlType(scope, attribute.type, own, attribute.modifier)
      return [
        {
          attribute: attribute.name,
          type: castText(scope, { type: attribute.type, typeText: text }, own),
          ...texts,
          ...(texts.geo === undefined && orderSql(scope, attribute.type)),
          json: value.json,
          ...(read !== null && { readAs: read }),
          ...attributesOf(scope, values, attribute.type, own),
        },
      ]
    }),
  }
}
