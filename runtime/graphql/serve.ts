import type { Caller, RunExchange } from '../contract/execution.ts'
import type { Revision, RevisionSource } from '../contract/revision.ts'
import { DatabaseFailure } from '../db/failures.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { bind } from './bind.ts'
import type { Document } from './document.ts'
import { createDocuments, type Documents } from './documents.ts'
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

/** An engine with what was found out about documents under it. */
interface Loaded {
  readonly engine: Engine
  readonly documents: Documents
}

/** A request that meets a schema change begins again; changes that come faster than this are told to the caller. */
const maxAttempts = 5

export function createService(parts: { readonly database: { readonly run: RunExchange }; readonly source: RevisionSource }): GraphqlService {
  const cell = createCell(parts.source)
  const { run } = parts.database
  return {
    serve: async (request, caller) => {
      for (let attempt = 1; ; attempt += 1) {
        const tried: { statements: Statements | null } = { statements: null }
        try {
          return await answer(run, await cell.current(), request, caller, tried)
        } catch (error) {
          if (!isStale(error) || attempt >= maxAttempts) return toFailure(error, tried.statements)
          await cell.refresh()
        }
      }
    },
  }
}

const isStale = (error: unknown): boolean => error instanceof DatabaseFailure && error.kind === 'stale'

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
 * A refusal speaks about the schema, so it has to be about the schema of now: before it is given, the version and the role are
 * checked as they are for every other request.
 */
async function checked<T>(run: RunExchange, engine: Engine, caller: Caller, work: () => T): Promise<T> {
  try {
    return withinStack(work)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await run({ caller, version: engine.version, readOnly: true, statements: [] }).catch((failure: unknown) => {
      if (failure instanceof DatabaseFailure && (failure.kind === 'stale' || failure.kind === 'role-refused')) throw failure
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

/** The one mutable cell: a request reads it once and keeps what it read. */
function createCell(source: RevisionSource): { readonly current: () => Promise<Loaded>; readonly refresh: () => Promise<Loaded> } {
  let loaded: Loaded | undefined
  const refresh = singleFlight(async () => (loaded = load(await source(), loaded)))
  return { current: async () => loaded ?? refresh(), refresh }
}

/** A revision that says the same as the one before keeps all that was found out under it. */
function load(revision: Revision, before: Loaded | undefined): Loaded {
  if (before?.engine.revision === revision.id) {
    return { engine: { ...before.engine, version: revision.version }, documents: before.documents }
  }
  const engine = createEngine(revision)
  return { engine, documents: createDocuments(engine) }
}
