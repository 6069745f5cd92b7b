import type { Oid } from '../catalog/catalog.ts'
import { type ValueAdditions, domainBase, domainModifier, lookThrough } from './scalars.ts'
import { geoOf } from './geo.ts'
import type { ModelScope } from './scope.ts'
import type { CastSql } from './model.ts'

/**
 * Whether the type is an array, whether its literals separate values by a comma (a box uses a semicolon), and how
 * GeoJSON is read if it is served as that. The modifier is that of the column, -1 if absent; a domain has its own.
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
 * The cast of a column's operands: its type without a modifier if it is one of pg_catalog, because a cast would
 * truncate or round: a comparison concerns the value that was sent, and an assignment checks the modifier (manual 8.1
 * to 8.3, 8.5, 8.10). A list of a domain is cast to a list of its base type, if that has a modifier. With `domains` a
 * value is compared as the domain's base type; its checks are for writes.
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
 * The type a value is read as, if operators do not accept its own together with operands of the base type; null if they
 * do. Operators of enums take no domains (PostgreSQL manual 8.7, 38.2.5), and those of arrays need one type on both
 * sides: a cast of operands to an array of a domain would apply its checks.
 */
export function readAs(scope: ModelScope, oid: Oid, asked: ValueAdditions): string | null {
  const under = lookThrough(scope, oid, asked)
  if (under?.kind === 'e') return under.oid === oid ? null : under.text
  const element = under?.element == null ? undefined : scope.types.get(under.element)
  const bottom = asked.domains && element?.kind === 'd' ? domainBase(scope, element) : undefined
  return bottom === undefined || bottom.element !== null ? null : `${bottom.text}[]`
}
