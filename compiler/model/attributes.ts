import type { Oid } from '../catalog/catalog.ts'
import {
  orderSql,
  additionsOfSchema,
  lookThrough,
  type ValueAdditions,
  type Values,
  castText,
  readAs,
  sqlType,
} from './scalars.ts'
import type { ModelScope } from './scope.ts'
import type { AttributeSql } from './model.ts'

/** How the attributes of a composite value are read and compared; absent for all other types. */
export function attributesOf(
  scope: ModelScope,
  values: Values,
  oid: Oid,
  asked: ValueAdditions,
): { readonly attributes?: readonly AttributeSql[] } {
  const type = lookThrough(scope, oid, asked)
  if (type === undefined || values(oid, asked)?.type.kind !== 'composite') return {}
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
