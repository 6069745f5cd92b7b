import {
  Kind,
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql'
import { badArgument } from '../protocol/failures.ts'
import type { Variables } from './input.ts'

/** The facts about an operation that collecting selections needs. */
export interface Walk {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Variables
  /** Whether the type belongs to an interface or union of this name. */
  readonly covers: (abstract: string, type: GraphQLObjectType) => boolean
}

/**
 * The fields selected on an object, by response key in document order (GraphQL specification 6.3.2), after @skip and
 * @include and with fragments expanded.
 */
export function collectFields(
  walk: Walk,
  type: GraphQLObjectType,
  sets: readonly (SelectionSetNode | undefined)[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const applies = (condition: string | undefined): boolean =>
    condition === undefined || condition === type.name || walk.covers(condition, type)

  const visit = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (!isIncluded(walk, selection.directives ?? [])) continue
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const known = fields.get(key)
        if (known === undefined) fields.set(key, [selection])
        else known.push(selection)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (applies(selection.typeCondition?.name.value)) visit(selection.selectionSet)
      } else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value)
        const fragment = walk.fragments.get(selection.name.value)
        if (fragment !== undefined && applies(fragment.typeCondition.name.value)) visit(fragment.selectionSet)
      }
    }
  }
  for (const set of sets) if (set !== undefined) visit(set)
  return fields
}

function isIncluded(walk: Walk, directives: readonly DirectiveNode[]): boolean {
  return directives.every((directive) => {
    const name = directive.name.value
    if (name !== 'skip' && name !== 'include') return true
    const holds = condition(walk, directive)
    return name === 'skip' ? !holds : holds
  })
}

function condition(walk: Walk, directive: DirectiveNode): boolean {
  const node = directive.arguments?.find((argument) => argument.name.value === 'if')?.value
  const value =
    node?.kind === Kind.VARIABLE
      ? walk.variables.values[node.name.value]
      : node?.kind === Kind.BOOLEAN
        ? node.value
        : undefined
  if (typeof value === 'boolean') return value
  throw badArgument(`Value for "if" in @${directive.name.value} directive is required`)
}

/** The selection sets of fields that share a response key; they are merged. */
export const setsOf = (nodes: readonly FieldNode[]): readonly (SelectionSetNode | undefined)[] =>
  nodes.map((node) => node.selectionSet)
