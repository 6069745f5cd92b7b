import { execute, Kind, type DocumentNode, type FieldNode, type TypeNode } from 'graphql'
import type { RoleView } from '../../engine/schema/schema.ts'
import { asRefusal, type Operation } from '../operation/operation.ts'
import type { Walk } from './planner.ts'

/** The argument types of meta fields and directives; the operation's other variables belong to its other fields. */
const usable: ReadonlySet<string> = new Set(['String', 'Boolean'])

const named = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : named(type.type))

/**
 * Answers __schema and __type with graphql-js, from the schema that introspection may show (spec/graphql.md 12).
 * @returns JSON text of the field's value
 */
export function introspect(
  view: RoleView,
  operation: Operation,
  walk: Walk,
  key: string,
  nodes: readonly FieldNode[],
): string {
  const document: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        ...operation.node,
        selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
        variableDefinitions: (operation.node.variableDefinitions ?? []).filter(({ type }) => usable.has(named(type))),
      },
      ...operation.fragments.values(),
    ],
  }
  const result = execute({ schema: view.introspected(), document, variableValues: walk.variables.values })
  if (result instanceof Promise) throw new Error('introspection waits for nothing')
  if (result.errors !== undefined) throw asRefusal('BAD_VARIABLES', result.errors)
  return JSON.stringify(result.data?.[key] ?? null)
}
