import type { Caller, RunExchange } from '../contract/execution.ts'
import type { RevisionSource } from '../contract/revision.ts'
import { DatabaseFailure } from '../db/failures.ts'
import type { Engine } from '../engine/engine.ts'
import { bind } from './bind.ts'
import { createCell, type Cell, type Loaded } from './cell.ts'
import type { Document } from './document.ts'
import type { Documents } from './documents.ts'
import { refuse, Refusal } from './failures.ts'
import { withinStack } from './limits.ts'
import { toFailure, toResponse } from './response.ts'
import type { Statements } from './statements/statements.ts'
import type { GraphqlRequest, GraphqlResponse } from './types.ts'

/** THE PAGE: how one request is answered. */

export interface GraphqlService {
  /** Never rejects for what a caller or the database did; each of these is an answer. */
  readonly serve: (request: GraphqlRequest, caller: Caller) => Promise<GraphqlResponse>
}

/** A request that meets a schema change begins again; changes that come faster than this are told to the caller. */
const maxAttempts = 8

/** Whatever the last attempt met was about a schema that is gone. */
const keptChanging = new DatabaseFailure('stale', 'the schema kept changing', null, null)

export interface ServiceParts {
  readonly database: { readonly run: RunExchange }
  readonly source: RevisionSource
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

export function createService({ database: { run }, source, now = Date.now }: ServiceParts): GraphqlService {
  const cell = createCell(source, now)
  return {
    serve: async (request, caller) => {
      for (let attempt = 1; ; attempt += 1) {
        const tried: { loaded: Loaded | null; statements: Statements | null } = { loaded: null, statements: null }
        try {
          tried.loaded = await engineFor(cell, request)
          return await answer(run, tried.loaded, request, caller, tried)
        } catch (error) {
          const again = await deservesAnother(cell, tried.loaded, error).catch((failure: unknown) => ({ failure }))
          if (typeof again === 'object') return toFailure(again.failure, null)
          if (!again) return toFailure(error, tried.statements)
          if (attempt >= maxAttempts) return toFailure(keptChanging, null)
        }
      }
    },
  }
}

/** Introspection is about the schema of now; where no request checks the version, somebody has to look first. */
async function engineFor(cell: Cell, { query }: GraphqlRequest): Promise<Loaded> {
  const loaded = await cell.current()
  return loaded.engine.version === null && query !== null && introspects.test(query) ? cell.look() : loaded
}

const introspects = /__(?:schema|type)\b/

/**
 * Whether a request that failed may fare better on another engine. All that it did was undone, so it can begin again.
 * Rejects when the newest engine cannot be had.
 */
async function deservesAnother(cell: Cell, loaded: Loaded | null, error: unknown): Promise<boolean> {
  if (loaded === null) return false
  if (error instanceof DatabaseFailure && error.kind === 'stale') {
    await cell.after(loaded)
    return true
  }
  if (!speaksOfSchema(error, loaded.engine)) return false
  const newest = await cell.look().catch(() => loaded)
  return newest.engine !== loaded.engine
}

/**
 * Errors that a change of the schema brings about when it comes between a request's check of the version and its
 * statements: unknown or altered objects, missing privileges, changed results (PostgreSQL manual, appendix A). Where no
 * request checks the version, a refusal of our own may be as outdated.
 */
const speaksOfSchema = (error: unknown, { version }: Engine): boolean =>
  error instanceof DatabaseFailure
    ? error.sqlstate !== null && schemaClasses.has(error.sqlstate.slice(0, 2))
    : error instanceof Refusal && version === null

const schemaClasses: ReadonlySet<string> = new Set(['0A', '3F', '42', 'XX'])

async function answer(
  run: RunExchange,
  { engine, documents }: Loaded,
  request: GraphqlRequest,
  caller: Caller,
  tried: { statements: Statements | null },
): Promise<GraphqlResponse> {
  const { statements, bound } = await checked(run, engine, caller, () => {
    const document = findDocument(engine, documents, request, caller.role)
    if (request.queryOnly && document.writes) throw refuse('MUTATION_BY_GET', 'Mutations are only answered by POST.')
    const { statements, variables } = document.prepare(request.variables)
    return { statements, bound: statements.statements.map((statement) => bind(statement, variables)) }
  })
  tried.statements = statements
  const rows = await run({ caller, version: engine.version, readOnly: !statements.writes, statements: bound })
  return toResponse(statements, rows)
}

/**
 * A refusal speaks about the schema, so it has to be about the schema of now: before it is given, the version and the
 * role are checked as they are for every other request.
 */
async function checked<T>(run: RunExchange, engine: Engine, caller: Caller, work: () => T): Promise<T> {
  try {
    return withinStack(work)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await run({ caller, version: engine.version, readOnly: true, statements: [] }).catch((failure: unknown) => {
      if (failure instanceof DatabaseFailure && (failure.kind === 'stale' || failure.kind === 'role-refused'))
        throw failure
    })
    throw error
  }
}

function findDocument(engine: Engine, documents: Documents, request: GraphqlRequest, role: string): Document {
  const { refusal } = engine.manifest
  if (refusal !== null) throw refuse('SCHEMA_COMMENT_INVALID', refusal)
  if (request.query === null) throw refuse('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')
  return documents.find(role, request.query, request.operationName)
}
