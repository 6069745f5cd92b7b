import {
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import type { Api } from './api-types.ts'
import type { Json } from './world.ts'

/** The meaning of a document's selections and values (GraphQL specification, sections 2.12 and 6.3). */
export interface Scope {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Readonly<Record<string, Json>>
  readonly abstract: Api['abstract']
}

export function readScope(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  sent: Readonly<Record<string, Json>>,
  { abstract }: Api,
): Scope {
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
  const names = (operation.variableDefinitions ?? []).map((definition) => definition.variable.name.value)
  const defaults = (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, readNode({}, defaultValue) as Json] as const],
  )
  const values = Object.entries(sent).filter(([name]) => names.includes(name))
  return {
    fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    variables: Object.fromEntries([...defaults, ...values]),
    abstract,
  }
}

/** The value of an argument; undefined if it or its variable is absent. */
export function argument(scope: Scope, field: FieldNode, name: string): Json | undefined {
  const node = field.arguments?.find((item) => item.name.value === name)
  return node === undefined ? undefined : readNode(scope.variables, node.value)
}

function readNode(variables: Readonly<Record<string, Json>>, node: ValueNode): Json | undefined {
  switch (node.kind) {
    case Kind.VARIABLE:
      return Object.hasOwn(variables, node.name.value) ? variables[node.name.value] : undefined
    case Kind.NULL:
      return null
    case Kind.INT:
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value
    case Kind.FLOAT:
      return Number(node.value)
    case Kind.LIST:
      return node.values.map((item) => readNode(variables, item) ?? null)
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.flatMap((field) => {
          const value = readNode(variables, field.value)
          return value === undefined ? [] : [[field.name.value, value] as const]
        }),
      )
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value
  }
}

/** Fields by response key, in the order of their first mention, through fragments and directives. */
export function collectFields(
  scope: Scope,
  type: string,
  selections: readonly (SelectionSetNode | undefined)[],
): ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]> {
  const found = new Map<string, [FieldNode, ...FieldNode[]]>()
  const visit = (selection: SelectionNode): void => {
    if (!isIncluded(scope, selection)) return
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value
      const before = found.get(key)
      if (before === undefined) found.set(key, [selection])
      else before.push(selection)
      return
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? scope.fragments.get(selection.name.value) : selection
    const condition = fragment?.typeCondition?.name.value
    const applies = condition === undefined || condition === type || scope.abstract.get(condition)?.has(type) === true
    if (applies) fragment?.selectionSet.selections.forEach(visit)
  }
  for (const set of selections) set?.selections.forEach(visit)
  return found
}

function isIncluded(scope: Scope, selection: SelectionNode): boolean {
  const condition = (name: string): Json | undefined => {
    const directive = selection.directives?.find((item) => item.name.value === name)
    const value = directive?.arguments?.[0]?.value
    return value === undefined ? undefined : readNode(scope.variables, value)
  }
  return condition('skip') !== true && condition('include') !== false
}
