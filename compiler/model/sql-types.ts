import type { Oid } from '../catalog/types.ts'
import type { Scope } from './scope.ts'

/** How texts become values of a type in SQL. */
export interface SqlType {
  readonly array: boolean
  readonly plainDelimiter: boolean
}

/** Whether the type is an array, and whether a comma parts the values in an array literal of them (a box takes a semicolon). */
export function sqlType(scope: Scope, oid: Oid): SqlType {
  const type = scope.types.get(oid)
  const element = type?.element == null ? null : scope.types.get(type.element)
  return { array: element !== null, plainDelimiter: (element ?? type)?.delimiter === ',' }
}
