import { Kind, type DocumentNode, type FragmentDefinitionNode, type OperationDefinitionNode, type SelectionSetNode } from 'graphql'
import { refuse } from './failures.ts'

/**
 * Refusals that protect the server and always hold (spec/graphql.md section 0, decision 10). Every fragment is looked at once, so
 * the cost grows with the document and not with what it would expand to.
 */
const maxDepth = 32
const maxSelections = 1_000_000

/**
 * The rule that fields can be merged compares all fields that share a response name with each other, and all fragments that are
 * spread in one place. Nobody needs a thousand of either; a document that makes up more comparisons than this is an attack.
 */
const maxComparisons = 2_000_000

interface Size {
  readonly depth: number
  readonly selections: number
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

export function checkLimits(document: DocumentNode, operation: OperationDefinitionNode): void {
  const fragments = fragmentsOf(document)
  const size = measure(operation.selectionSet, fragments)
  // A document with a cycle has no size; validation refuses it in the specification's words.
  if (size === null) return
  if (size.depth > maxDepth) {
    throw refuse('DOCUMENT_TOO_DEEP', `The selections are nested ${size.depth} levels deep; at most ${maxDepth} levels are allowed.`)
  }
  if (size.selections > maxSelections) {
    throw refuse('DOCUMENT_TOO_LARGE', `The document selects more than ${maxSelections} fields after its fragments are expanded.`)
  }
}

/** To be called before validation, whose cost it bounds. */
export function checkRepetition(document: DocumentNode): void {
  let comparisons = 0
  for (const definition of document.definitions) {
    if ('selectionSet' in definition && definition.selectionSet !== undefined) comparisons += compare(definition.selectionSet)
  }
  if (comparisons > maxComparisons) {
    throw refuse('DOCUMENT_TOO_REPETITIVE', 'The document selects the same field or spreads fragments too many times in one place.')
  }
}

export const fragmentsOf = (document: DocumentNode): Fragments =>
  new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  )

/** Depth and number of selections with fragments expanded, or null when a fragment contains itself. */
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
        const inner = selection.kind === Kind.INLINE_FRAGMENT ? ofSet(selection.selectionSet) : spread(selection.name.value)
        depth = Math.max(depth, inner.depth)
        selections += inner.selections
      }
    }
    return { depth, selections }
  }
  const size = ofSet(root)
  return cyclic ? null : size
}

/** How many pairs of fields with one response name and of fragment spreads a selection set and those in it make up. */
function compare(set: SelectionSetNode): number {
  const names = new Map<string, number>()
  let spreads = 0
  let inner = 0
  const visit = (selections: SelectionSetNode['selections']): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value
        names.set(name, (names.get(name) ?? 0) + 1)
        if (selection.selectionSet !== undefined) inner += compare(selection.selectionSet)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        visit(selection.selectionSet.selections)
      } else {
        spreads += 1
      }
    }
  }
  visit(set.selections)
  let pairs = spreads * spreads
  for (const count of names.values()) pairs += count * (count - 1)
  return pairs + inner
}
