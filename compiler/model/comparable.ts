import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Oid } from '../catalog/catalog.ts'
import type { AnnotatedType } from '../comments/annotated.ts'

/**
 * Types of pg_catalog that Postgres compares with each other by `=`, by implicit casts (PostgreSQL manual, pg_cast).
 */
const families: Readonly<Record<string, string>> = {
  int2: 'number',
  int4: 'number',
  int8: 'number',
  numeric: 'number',
  float4: 'number',
  float8: 'number',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  name: 'text',
  char: 'text',
  date: 'date',
  timestamp: 'date',
  timestamptz: 'date',
  time: 'time',
  timetz: 'time',
  inet: 'network',
  cidr: 'network',
  bit: 'bits',
  varbit: 'bits',
}

/** Types of pg_catalog without `=`. */
const unequal: ReadonlySet<string> = new Set(['json', 'jsonpath', 'xml', 'point', 'polygon'])

/** Types of pg_catalog for OIDs, which compare with numbers and with each other. */
const isNumberOfObject = (name: string): boolean => name === 'oid' || name.startsWith('reg')

/** Whether Postgres may have `=` for values of these types: false if it is known to have none. */
export function mayBeEqual(types: Lookup<AnnotatedType>, one: Oid, other: Oid): boolean {
  const [a, b] = [familyOf(types, one), familyOf(types, other)]
  return a !== none && b !== none && (a === b || a === null || b === null)
}

const none = 'none'

/** Null: an extension's type, or one that is not in the catalogue. */
function familyOf(types: Lookup<AnnotatedType>, oid: Oid): string | null {
  const type = types.get(oid)
  if (type === undefined) return null
  if (type.kind === 'd') return type.base === null ? null : familyOf(types, type.base)
  if (type.element !== null) return arrayFamily(types, type.element)
  if (type.kind !== 'b') return objectId(type.schema, type.name)
  if (type.schema !== 'pg_catalog' || isNumberOfObject(type.name)) return null
  return unequal.has(type.name) ? none : (families[type.name] ?? type.name)
}

/** Elements of arrays have no implicit casts. */
function arrayFamily(types: Lookup<AnnotatedType>, oid: Oid): string | null {
  const element = types.get(oid)
  if (element === undefined || (element.kind === 'b' && element.schema !== 'pg_catalog')) return null
  if (element.schema === 'pg_catalog' && unequal.has(element.name)) return none
  return `${objectId(element.schema, element.name)}[]`
}
