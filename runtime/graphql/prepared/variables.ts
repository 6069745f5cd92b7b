import { valueFromASTUntyped, type VariableDefinitionNode } from 'graphql'
import type { RoleView } from '../../engine/schema/schema.ts'
import type { Operation } from '../operation/operation.ts'
import type { Variables } from '../plan/input.ts'
import { createVariableReader } from '../variables/read.ts'
import { declaredVariables } from './input-types.ts'

type Given = Readonly<Record<string, unknown>>

/** What planning knows of a request's variables. @throws Refusal for values that do not fit their declared types */
export type ReadVariables = (given: Given) => Variables

export function readVariables({ schema }: RoleView, operation: Operation): ReadVariables {
  const definitions = operation.node.variableDefinitions ?? []
  if (!operation.strict) return (given) => ({ values: withDefaults(definitions, given), untyped: true })
  const read = createVariableReader(declaredVariables(schema, definitions))
  return (given) => ({ values: read(given), untyped: false })
}

function withDefaults(definitions: readonly VariableDefinitionNode[], given: Given): Given {
  const defaults = definitions.flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  )
  return { ...Object.fromEntries(defaults), ...given }
}
