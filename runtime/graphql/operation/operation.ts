import {
  getOperationAST,
  GraphQLError,
  Kind,
  parse,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql'
import type { RoleView } from '../../engine/schema/schema.ts'
import { Refusal, refuse, type FailureCode } from '../protocol/failures.ts'
import { checkLimits, fragmentsOf, TakesLong, type Patience, isAborted, problemsOf } from './validation.ts'

/** s2: a valid operation of a document that the caller's schema can answer. */
export interface Operation {
  readonly document: DocumentNode
  readonly node: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** False if validation is switched off (spec/graphql.md 11, right-hand column). */
  readonly strict: boolean
}

/** The number of expanded fields that are planned within some milliseconds. */
const quickSelections = 1_500

/**
 * Parses a document, finds the operation to run and validates the document against the caller's schema.
 * @throws Refusal with every problem, in the words of graphql-js
 * @throws TakesLong in quick mode
 */
export function toOperation(
  view: RoleView,
  text: string,
  operationName: string | null,
  pace: Patience = 'patient',
): Operation {
  const document = parseDocument(text)
  const node = getOperationAST(document, operationName)
  const size = node ? checkLimits(document, node, view.visible.manifest.limits?.fields) : null
  if (pace === 'quick' && size !== null && size.selections > quickSelections) throw new TakesLong()
  const problems = problemsOf(view, document, pace)
  if (problems.some(isAborted)) throw tooRepetitive()
  if (problems.length > 0) throw asRefusal('GRAPHQL_VALIDATION_FAILED', problems)
  if (!node) throw operationMissing(document, operationName)
  if (view.schema.getRootType(node.operation) == null) {
    throw asRefusal('GRAPHQL_VALIDATION_FAILED', [
      new GraphQLError(`Schema is not configured to execute ${node.operation} operation.`, { nodes: node }),
    ])
  }
  dropTokens(document)
  return operationOf(view, document, node)
}

export const tooRepetitive = (): Refusal =>
  refuse('DOCUMENT_TOO_REPETITIVE', 'The document selects the same fields or spreads fragments too many times.')

/** The same for a document that was found valid for this view before. */
export function parseOperation(view: RoleView, text: string, operationName: string | null): Operation {
  const document = parseDocument(text)
  const node = getOperationAST(document, operationName)
  if (!node) throw operationMissing(document, operationName)
  return operationOf(view, document, node)
}

const operationOf = (view: RoleView, document: DocumentNode, node: OperationDefinitionNode): Operation => ({
  document,
  node,
  fragments: fragmentsOf(document),
  strict: view.visible.manifest.validation,
})

function parseDocument(text: string): DocumentNode {
  try {
    return parse(text)
  } catch (error) {
    throw error instanceof GraphQLError ? asRefusal('GRAPHQL_PARSE_FAILED', [error]) : error
  }
}

/** The tokens of a text are linked and outweigh its nodes; later errors need positions, not tokens. */
function dropTokens(document: DocumentNode): void {
  visit(document, {
    enter: ({ loc }) => {
      if (loc !== undefined) Object.assign(loc, { startToken: null, endToken: null })
    },
  })
}

/** The message of graphql-js for an operation that cannot be chosen. */
function operationMissing(document: DocumentNode, name: string | null): Refusal {
  const count = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION).length
  if (name !== null) return refuse('OPERATION_NOT_FOUND', `Unknown operation named "${name}".`)
  return refuse(
    'OPERATION_NOT_FOUND',
    count === 0 ? 'Must provide an operation.' : 'Must provide operation name if query contains multiple operations.',
  )
}

export function asRefusal(code: FailureCode, errors: readonly GraphQLError[]): Refusal {
  return new Refusal(
    code,
    errors.map((error) => ({
      message: error.message,
      ...(error.locations && { locations: error.locations.map(({ line, column }) => ({ line, column })) }),
      ...(error.path && { path: error.path }),
      extensions: { code },
    })),
  )
}
