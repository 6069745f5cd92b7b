import { Kind, print, visit, type DocumentNode, type FragmentDefinitionNode } from 'graphql'
import type { GivenDocument } from './document-changes.ts'
import { parsedOf } from './parsed.ts'

/**
 * Files of an application share their fragments: each document gets those of the others that it spreads, and files of
 * fragments alone are not documents. A file that cannot be parsed is unchanged.
 */
export function withFragments(files: readonly GivenDocument[]): readonly GivenDocument[] {
  // Without the word, nothing needs parsing.
  if (!files.some(({ text }) => text.includes('fragment'))) return files
  const parsed = files.map((file) => ({ file, document: parsedOf(file.text) }))
  const shared = new Map(
    parsed
      .flatMap(({ document }) => (document === null ? [] : fragmentsOf(document)))
      .map((fragment) => [fragment.name.value, fragment]),
  )
  return parsed.flatMap(({ file, document }) => {
    if (document === null) return [file]
    if (document.definitions.every(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)) return []
    const own = fragmentsOf(document).map(({ name }) => name.value)
    const missing = [...reached(document, shared)].filter((fragment) => !own.includes(fragment.name.value))
    return [missing.length === 0 ? file : { ...file, text: [file.text, ...missing.map(print)].join('\n') }]
  })
}

const fragmentsOf = ({ definitions }: DocumentNode): readonly FragmentDefinitionNode[] =>
  definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)

/** Fragments that a document spreads, directly or indirectly. */
function reached(
  document: DocumentNode,
  shared: ReadonlyMap<string, FragmentDefinitionNode>,
): ReadonlySet<FragmentDefinitionNode> {
  const found = new Set<FragmentDefinitionNode>()
  const follow = (node: DocumentNode | FragmentDefinitionNode): void => {
    visit(node, {
      FragmentSpread: ({ name }) => {
        const fragment = shared.get(name.value)
        if (fragment === undefined || found.has(fragment)) return
        found.add(fragment)
        follow(fragment)
      },
    })
  }
  follow(document)
  return found
}
