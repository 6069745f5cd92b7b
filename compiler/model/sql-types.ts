import type { Oid } from '../catalog/catalog.ts'
import { type ValueAdditions, domainBase, domainModifier, lookThrough } from './scalars.ts'
import { geoOf } from './geo.ts'
import type { ModelScope } from './scope.ts'
import type { CastSql } from './model.ts'

/**
 * Whether the type is an array, whether a comma parts the values in an array literal of them (a box takes a semicolon),
 * and how GeoJSON is read where it is served as that. The modifier is that of the column, -1 where there is none; a
 * domain has its own.
 */
export function sqlType(scope: ModelScope, oid: Oid, asked: ValueAdditions, modifier = -1): Omit<CastSql, 'type'> {
  const type = lookThrough(scope, oid, asked)
  const element = type?.element == null ? null : scope.types.get(type.element)
  const own = type?.oid === oid ? modifier : domainModifier(scope, oid)
  const geo = asked.geo && type !== undefined ? geoOf(type, own) : {}
  return {
    array: element !== null,
    plainDelimiter: (element ?? type)?.delimiter === ',',
    ...geo,
    ...((element ?? type)?.kind === 'c' && { composite: true }),
  }
}

/**
 * The type that a column's operands are cast to: its own, without the modifier of a type of pg_catalog, to which a cast would cut or
 * round: a comparison is of the value that was sent, and what is written an assignment holds to the modifier (manual 8.1 to 8.3,
 * 8.5, 8.10). A list of a domain is cast to a list of what lies under it, where that has a modifier. With `domains` a value is
 * compared as what lies under the domain, whose checks are for what is written.
 */
export function castText(
  scope: ModelScope,
  { type, typeText }: { readonly type: Oid; readonly typeText: string },
  asked: ValueAdditions,
): string {
  const under = lookThrough(scope, type, asked)
  const read = readAs(scope, type, asked)
  if (read !== null) return read
  if (under !== undefined && under.oid !== type) return under.text
  const element = scope.types.get(type)?.element ?? null
  const named = scope.types.get(element ?? type)
  const bottom = named?.kind === 'd' ? domainBase(scope, named) : named
  if (bottom?.schema !== 'pg_catalog' || (named?.kind === 'd' && domainModifier(scope, named.oid) < 0)) return typeText
  return element === null ? bottom.text : `${bottom.text}[]`
}

/**
 * What a value is read as, where operators would not take its own type together with operands of the type underneath;
 * null where they do. Those of enums take no domains (PostgreSQL manual 8.7, 38.2.5), and those of arrays want one type
 * on both sides: a cast of operands to an array of a domain would hold them to its checks.
 */
export function readAs(scope: ModelScope, oid: Oid, asked: ValueAdditions): string | null {
  const under = lookThrough(scope, oid, asked)
  if (under?.kind === 'e') return under.oid === oid ? null : under.text
  const element = under?.element == null ? undefined : scope.types.get(under.element)
  const bottom = asked.domains && element?.kind === 'd' ? domainBase(scope, element) : undefined
  return bottom === undefined || bottom.element !== null ? null : `${bottom.text}[]`
}
