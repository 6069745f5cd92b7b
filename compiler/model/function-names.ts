import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import { nameFunction } from '../catalog/diagnostics/object-name.ts'
import { rowArgument } from './computed.ts'
import { functionId, type FunctionIdentity } from './overloads.ts'
import type { ModelScope } from './scope.ts'

/** The owner's name of a function, by the row of a computed field (null: none) and the id of its facts. */
export type FunctionNames = (row: ObjectId | null, id: ObjectId) => string

/** Facts lack the SQL argument types, which are part of its name. */
export function functionNames(scope: ModelScope, functions: readonly AnnotatedFunction[]): FunctionNames {
  const key = (row: ObjectId | null, id: ObjectId): string => JSON.stringify([row, id])
  const names = new Map(
    functions.flatMap((fn) => {
      const row = rowArgument(scope, fn) ?? null
      return functionIdentities(fn).map((id) => [key(row, id), nameFunction(fn)] as const)
    }),
  )
  return (row, id) => names.get(key(row, id)) ?? id
}

/** The possible ids of its facts: they depend on whether other functions have its name. */
export const functionIdentities = (fn: FunctionIdentity): readonly ObjectId[] => [
  functionId(fn, true),
  functionId(fn, false),
]
