import {
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { refuse } from '../protocol/failures.ts'

/**
 * Refusals that protect the server and always apply (spec/graphql.md, decision 10). Every fragment is visited once, so
 * the cost grows with the document and not with its expansion.
 */
const maxDepth = 32
const maxSelections = 1_000_000
/** A selection of an introspection may be answered for every type of a schema; the common query has some 250. */
const maxIntrospected = 500

export interface Size {
  readonly depth: number
  /** With fragments expanded. */
  readonly selections: number
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/**
 * @param maxFields the owner's limit (spec/graphql.md 17, `limits`), or null
 * @returns its size; null if a fragment contains itself
 */
export function checkLimits(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  maxFields: number | null = null,
): Size | null {
  const fragments = fragmentsOf(document)
  const size = measure(operation.selectionSet, fragments)
  // A document with a cycle has no size; validation refuses it with the specification's message.
  if (size === null) return null
  if (size.depth > maxDepth) {
    throw refuse(
      'DOCUMENT_TOO_DEEP',
      `The selections are nested ${size.depth} levels deep; at most ${maxDepth} levels are allowed.`,
    )
  }
  if (size.selections > maxSelections) {
    throw refuse(
      'DOCUMENT_TOO_LARGE',
      `The document selects more than ${maxSelections} fields after its fragments are expanded.`,
    )
  }
  if (maxFields !== null && size.selections > maxFields) {
    throw refuse(
      'FIELD_LIMIT_EXCEEDED',
      `The document selects ${size.selections} fields after its fragments are expanded; at most ${maxFields} are allowed.`,
    )
  }
  return size
}

/** Fields of an operation with fragments expanded. */
export const selectionsOf = (operation: OperationDefinitionNode, fragments: Fragments): number =>
  measure(operation.selectionSet, fragments)?.selections ?? 0

/** @param nodes the __schema and __type fields of an operation */
export function checkIntrospection(nodes: readonly FieldNode[], fragments: Fragments): void {
  const size = measure({ kind: Kind.SELECTION_SET, selections: nodes }, fragments)
  if (size !== null && size.selections > maxIntrospected) {
    throw refuse(
      'DOCUMENT_TOO_LARGE',
      `The document selects more than ${maxIntrospected} fields of __schema and __type.`,
    )
  }
}

/** How long the work may take: unlimited, or some milliseconds. */
export type Patience = 'patient' | 'quick'

/** Thrown in quick mode by work that would take longer than some milliseconds. */
export class TakesLong extends Error {
  override readonly name = 'TakesLong'
}

export const fragmentsOf = (document: DocumentNode): Fragments =>
  new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  )

/** Depth and number of selections with fragments expanded, or null if a fragment contains itself. */
function measure(root: SelectionSetNode, fragments: Fragments): Size | null {
  const known = new Map<string, Size>()
  const open = new Set<string>()
  let cyclic = false

  const spread = (name: string): Size => {
    const fragment = fragments.get(name)
    const size = known.get(name)
    if (size !== undefined) return size
    if (fragment === undefined) return { depth: 0, selections: 0 }
    if (open.has(name)) {
      cyclic = true
      return { depth: 0, selections: 0 }
    }
    open.add(name)
    const measured = ofSet(fragment.selectionSet)
    open.delete(name)
    known.set(name, measured)
    return measured
  }
  const ofSet = (set: SelectionSetNode): Size => {
    let depth = 1
    let selections = 0
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const inner = selection.selectionSet === undefined ? { depth: 0, selections: 0 } : ofSet(selection.selectionSet)
        depth = Math.max(depth, inner.depth + 1)
        selections += 1 + inner.selections
      } else {
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT ? ofSet(selection.selectionSet) : spread(selection.name.value)
        depth = Math.max(depth, inner.depth)
        selections += inner.selections
      }
    }
    return { depth, selections }
  }
  const size = ofSet(root)
  return cyclic ? null : size
}
