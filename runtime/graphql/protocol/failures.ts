import type { GraphqlOutcome, GraphqlResponse } from './request-and-answer.ts'

/**
 * Every way in which a GraphQL request can be refused: its code and outcome. The code is stable, the sentence may
 * improve. Texts that existing clients know are in the code that raises them (spec/graphql.md 14.1).
 */
export const failures = {
  GRAPHQL_PARSE_FAILED: 'invalid',
  GRAPHQL_VALIDATION_FAILED: 'invalid',
  OPERATION_NOT_FOUND: 'invalid',
  DOCUMENT_TOO_DEEP: 'invalid',
  DOCUMENT_TOO_LARGE: 'invalid',
  DOCUMENT_TOO_REPETITIVE: 'invalid',
  FIELD_LIMIT_EXCEEDED: 'invalid',
  ROW_LIMIT_EXCEEDED: 'invalid',
  COST_LIMIT_EXCEEDED: 'invalid',
  OPERAND_LIMIT_EXCEEDED: 'invalid',
  BAD_VARIABLES: 'invalid',
  BAD_ARGUMENT: 'invalid',
  PERSISTED_QUERY_NOT_SUPPORTED: 'invalid',
  PERSISTED_QUERY_NOT_FOUND: 'invalid',
  PERSISTED_QUERY_MISMATCH: 'invalid',
  DOCUMENT_NOT_LISTED: 'invalid',
  DOCUMENT_NOT_COMPILED: 'invalid',
  VARIABLES_NOT_COMPILED: 'invalid',
  ONLY_COMPILED: 'invalid',
  DOCUMENT_OUTDATED: 'unavailable',
  DOCUMENT_DAMAGED: 'unavailable',
  NOT_LIVE: 'invalid',
  STREAM_REQUIRED: 'invalid',
  MUTATION_BY_GET: 'method-not-allowed',
  SCHEMA_COMMENT_INVALID: 'failed',
  SCHEMA_CHANGED: 'unavailable',
  ROLE_REFUSED: 'unauthorized',
  AT_MOST_EXCEEDED: 'failed',
  ANSWER_TOO_LARGE: 'failed',
  DATABASE_REFUSED: 'failed',
  DATABASE_CONFLICT: 'failed',
  DATABASE_TIMEOUT: 'failed',
  DATABASE_RESOURCE_LIMIT: 'failed',
  DATABASE_SHARDS_CROSSED: 'failed',
  DATABASE_LOCKED: 'unavailable',
  DATABASE_UNAVAILABLE: 'unavailable',
  DATABASE_CONNECTIONS_EXHAUSTED: 'unavailable',
  DEADLINE_EXCEEDED: 'failed',
  OVERLOADED: 'overloaded',
  SERVER_STOPPING: 'unavailable',
} as const satisfies Record<string, GraphqlOutcome>

export type FailureCode = keyof typeof failures

/** One entry of `errors` in a response (GraphQL specification 7.1.2). */
export interface ErrorEntry {
  readonly message: string
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly path?: readonly (string | number)[]
  readonly extensions: {
    readonly code: FailureCode
    readonly sqlstate?: string
    /** The path in the field's arguments. */
    readonly argument?: readonly string[]
  }
}

/** A refused request; it has no effect. */
export class Refusal extends Error {
  readonly code: FailureCode
  readonly outcome: GraphqlOutcome
  readonly errors: readonly ErrorEntry[]

  constructor(code: FailureCode, errors: readonly ErrorEntry[]) {
    super(errors[0]?.message ?? code)
    this.name = 'Refusal'
    this.code = code
    this.outcome = failures[code]
    this.errors = errors
  }
}

/** A refusal because of load does not depend on the schema. */
const ofLoad: ReadonlySet<FailureCode> = new Set(['OVERLOADED', 'DEADLINE_EXCEEDED'])

/** A refusal that another schema may avoid. */
export const isOfSchema = (error: unknown): error is Refusal => error instanceof Refusal && !ofLoad.has(error.code)

export const refuse = (code: FailureCode, message: string): Refusal =>
  new Refusal(code, [{ message, extensions: { code } }])

/** The answer to a request that is refused before its document is read. */
export const failureResponse = (code: FailureCode, message: string): GraphqlResponse => ({
  outcome: failures[code],
  code,
  body: JSON.stringify({ data: null, errors: [{ message, extensions: { code } }] }),
})

/** An argument or value that cannot be used (spec/graphql.md 14.1, the texts marked K). */
export const badArgument = (message: string): Refusal => refuse('BAD_ARGUMENT', message)

/** The same with the field's path. */
export const refusedAt = (key: string, message: string): Refusal =>
  new Refusal('BAD_ARGUMENT', [{ message, path: [key], extensions: { code: 'BAD_ARGUMENT' } }])

/**
 * Runs work that reads a document or its values. Parsers, rules and plans are recursive, so a document that exhausts
 * the stack is nested beyond any use.
 */
export function withinStack<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
}

export const tooDeep = (): Refusal =>
  refuse('DOCUMENT_TOO_DEEP', 'The document or its variables are nested too deeply.')
