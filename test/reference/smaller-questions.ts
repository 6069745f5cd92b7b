import { Kind, parse, print, visit, type ASTNode, type DefinitionNode, type DocumentNode } from 'graphql'
import type { Question } from './interpreter/world.ts'

/** The lists of a document from which one item may be removed. */
const lists = ['definitions', 'selections', 'arguments', 'directives', 'fields', 'values'] as const

type Plain = { [key: string]: Plain | Plain[] | string | undefined }

/** Smaller questions: one selection, argument, condition, fragment or alias removed. Larger ones go first. */
export function* smallerQuestions(question: Question): Generator<Question> {
  const document = parse(question.document, { noLocation: true })
  for (const path of removals(document as unknown as Plain)) {
    const smaller = structuredClone(document)
    const owner = path.slice(0, -1).reduce<never>((node, step) => node[step], smaller as never) as unknown as Plain[]
    const removed = owner.splice(Number(path[path.length - 1]), 1)[0]
    yield tidied(question, smaller)
    // Replaced by its content.
    const inner = (removed?.['selectionSet'] as Plain | undefined)?.['selections']
    if (removed?.['kind'] !== Kind.INLINE_FRAGMENT || !Array.isArray(inner)) continue
    owner.splice(Number(path[path.length - 1]), 0, ...inner)
    yield tidied(question, smaller)
  }
  const bare = visit(document, { Field: (node) => ({ ...node, alias: undefined }) })
  if (print(bare) !== print(document)) yield tidied(question, bare)
}

/** Paths of all removable parts, from the outside to the inside. */
function removals(root: Plain): readonly (readonly string[])[] {
  const found: string[][] = []
  let level: (readonly [string[], Plain])[] = [[[], root]]
  while (level.length > 0) {
    const next: (readonly [string[], Plain])[] = []
    for (const [path, node] of level) {
      for (const [key, child] of Object.entries(node)) {
        if (Array.isArray(child)) {
          child.forEach((item, index) => {
            if (lists.includes(key as 'fields')) found.push([...path, key, String(index)])
            next.push([[...path, key, String(index)], item])
          })
        } else if (typeof child === 'object' && child !== null) {
          next.push([[...path, key], child])
        }
      }
    }
    level = next
  }
  return found
}

/** Without unused variables and fragments. */
function tidied(question: Question, document: DocumentNode): Question {
  const spread = names(document, Kind.FRAGMENT_SPREAD)
  const used = names(document, Kind.VARIABLE)
  const kept = {
    ...document,
    definitions: document.definitions.flatMap((definition): readonly DefinitionNode[] => {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) return spread.has(definition.name.value) ? [definition] : []
      if (definition.kind !== Kind.OPERATION_DEFINITION) return [definition]
      const variableDefinitions = (definition.variableDefinitions ?? []).filter((item) =>
        used.has(item.variable.name.value),
      )
      return [{ ...definition, variableDefinitions }]
    }),
  }
  const variables = Object.fromEntries(Object.entries(question.variables).filter(([name]) => used.has(name)))
  return { ...question, variables, document: print(kept) }
}

function names(document: DocumentNode, kind: typeof Kind.VARIABLE | typeof Kind.FRAGMENT_SPREAD): ReadonlySet<string> {
  const found = new Set<string>()
  visit(document, {
    VariableDefinition: { enter: () => (kind === Kind.VARIABLE ? false : undefined) },
    enter: (node: ASTNode) => {
      if (node.kind === kind) found.add(node.name.value)
    },
  })
  return found
}
