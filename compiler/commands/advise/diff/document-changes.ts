import { stat } from 'node:fs/promises'
import { normalize } from 'node:path'
import { parse, type DocumentNode, Kind, print, visit, type FragmentDefinitionNode } from 'graphql'
import { glob, isDynamicPattern } from 'tinyglobby'
import { refusalOf } from '../../../../runtime/contract/facts.ts'
import type { RoleView } from '../../../../runtime/engine/schema/schema.ts'
import { Refusal } from '../../../../runtime/graphql/protocol/failures.ts'
import { toOperation } from '../../../../runtime/graphql/operation/operation.ts'
import { groupBy } from '../../../../runtime/lib/steps.ts'

/** Null if it is not a document. */
function parsedOf(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true })
  } catch {
    return null
  }
}

/**
 * Paths of the files that a pattern matches, sorted: `*` and `?` match characters within a segment, `**` any segments,
 * `{a,b}` either. Rejects with the file system's error if the folder before the first of these does not exist.
 */
export async function findFiles(pattern: string): Promise<readonly string[]> {
  if (!isDynamicPattern(pattern)) return [normalize(pattern)]
  const segments = pattern.split('/')
  const fixed = segments
    .slice(
      0,
      segments.findIndex((segment) => isDynamicPattern(segment)),
    )
    .join('/')
  await stat(fixed === '' && !pattern.startsWith('/') ? '.' : fixed || '/')
  const found = await glob(pattern, { absolute: pattern.startsWith('/'), expandDirectories: false })
  return found.map(normalize).sort()
}

export interface GivenDocument {
  /** Its origin: a file's path, or its hash in a list. */
  readonly source: string
  readonly text: string
  /** Its roles; null: all. */
  readonly roles: readonly string[] | null
}

interface BrokenDocument {
  readonly source: string
  readonly roles: readonly string[]
  /** Null if the operation has no name. */
  readonly operation: string | null
  readonly problems: readonly string[]
}

export interface JudgedDocuments {
  readonly broken: readonly BrokenDocument[]
  /** Documents that none of their roles could use before either, with their problems. */
  readonly invalid: readonly { readonly source: string; readonly problems: readonly string[] }[]
}

/** Judges documents like requests: parsed, validated and compared with the limits. */
export function judgeDocuments(
  documents: readonly GivenDocument[],
  before: readonly RoleView[],
  after: readonly RoleView[],
): JudgedDocuments {
  const judged = documents.map((document) => {
    const asked = before.flatMap((view, index) => {
      const later = after[index]
      return later === undefined || !(document.roles?.includes(view.role) ?? true) ? [] : [[view, later] as const]
    })
    return { document, asked, names: operationNames(document.text) }
  })
  return {
    broken: judged.flatMap(({ document: { source, text }, asked, names }) =>
      names.flatMap((operation) => {
        const found = asked.map(([view, later]) => ({
          role: view.role,
          problems: documentProblems(view, text, operation).length > 0 ? [] : documentProblems(later, text, operation),
        }))
        return [...groupBy(found, ({ problems }) => problems.join('\n')).values()].flatMap((group) => {
          const problems = group[0]?.problems ?? []
          return problems.length === 0 ? [] : [{ source, operation, roles: group.map(({ role }) => role), problems }]
        })
      }),
    ),
    invalid: judged.flatMap(({ document: { source, text }, asked, names }) => {
      const tried = asked.flatMap(([view]) => names.map((name) => documentProblems(view, text, name)))
      const [problems] = tried
      return problems === undefined || tried.some((found) => found.length === 0) ? [] : [{ source, problems }]
    }),
  }
}

/** Null represents an operation without a name, and a text without a readable one. */
export function operationNames(text: string): readonly (string | null)[] {
  const operations = parsedOf(text)?.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION) ?? []
  if (operations.length === 0) return [null]
  return operations.map((operation) => ('name' in operation ? (operation.name?.value ?? null) : null))
}

function documentProblems(view: RoleView, text: string, operation: string | null): readonly string[] {
  try {
    const refusal = refusalOf(view.visible.manifest, view.role)
    if (refusal !== null) return [refusal]
    toOperation(view, text, operation)
    return []
  } catch (error) {
    if (error instanceof Refusal) return error.errors.map(({ message }) => message)
    throw error
  }
}

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
