import { introspectionFromSchema, type IntrospectionQuery } from 'graphql'
import type { Caller, RunExchange } from '../contract/execution.ts'
import type { RevisionSource } from '../contract/revision.ts'
import { DatabaseFailure } from '../db/failures.ts'
import type { Engine } from '../engine/engine.ts'
import { after } from '../lib/after.ts'
import { admit, type Admission } from './allowlist/admission.ts'
import { behindList, createTexts, textOf, type Asker, type Texts } from './allowlist/listed.ts'
import { createPrepareAhead } from './allowlist/prepare-ahead.ts'
import { bind } from './bind.ts'
import { createCell, type Cell, type Loaded } from './cell.ts'
import { extensionsOf, runExtended } from './extensions.ts'
import { refuse, Refusal } from './failures.ts'
import { withinStack } from './limits.ts'
import { toFailure, toResponse } from './response.ts'
import type { Statements } from './statements/statements.ts'
import type { GraphqlRequest, GraphqlResponse } from './types.ts'

/** THE PAGE: how one request is answered. */

export interface GraphqlService {
  /** Never rejects for what a caller or the database did; each of these is an answer. */
  readonly serve: (request: GraphqlRequest, caller: Caller) => Promise<GraphqlResponse>
  /**
   * The whole API of a role as introspection would show it, whether the schema answers introspection or not: for the
   * owner alone. Rejects while no schema can be had.
   */
  readonly describe: (role: string) => Promise<IntrospectionQuery>
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
  const texts = createTexts()
  const prepareAhead = createPrepareAhead(run, texts, now)
  return {
    serve: async (request, caller) => {
      for (let attempt = 1; ; attempt += 1) {
        const tried: { loaded: Loaded | null; statements: Statements | null } = { loaded: null, statements: null }
        try {
          tried.loaded = await engineFor(cell, request)
          return await answer(run, texts, tried.loaded, request, caller, tried)
        } catch (error) {
          const again = await deservesAnother(cell, tried.loaded, error).catch((failure: unknown) => ({ failure }))
          if (typeof again === 'object') return toFailure(again.failure, null)
          if (!again) return toFailure(error, tried.statements)
          if (attempt >= maxAttempts) return toFailure(keptChanging, null)
        } finally {
          if (tried.loaded !== null) prepareAhead(tried.loaded)
        }
      }
    },
    describe: async (role) => introspectionFromSchema((await cell.look()).engine.view(role).complete()),
  }
}

/** Introspection is about the schema of now; where no request checks the version, somebody has to look first. */
function engineFor(cell: Cell, { query }: GraphqlRequest): Loaded | Promise<Loaded> {
  return after(cell.current(), (loaded) =>
    loaded.engine.version === null && query !== null && introspects.test(query) ? cell.look() : loaded,
  )
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
  texts: Texts,
  loaded: Loaded,
  request: GraphqlRequest,
  caller: Caller,
  tried: { statements: Statements | null },
): Promise<GraphqlResponse> {
  const { version } = loaded.engine
  const admission = await checked(run, { caller, version }, () => admitted(loaded, request, caller))
  const text = admission === null ? null : await textOf(run, texts, admission, { caller, version })
  const send = admission === null || text === null ? run : behindList(run, admission, text)
  const { document, statements, bound } = await checked(send, { caller, version }, () => {
    const document =
      admission === null || text === null
        ? loaded.documents.find(caller.role, request.query ?? '', request.operationName)
        : loaded.listed.find(caller.role, text, request.operationName, admission.hash)
    if (request.queryOnly && document.writes) throw refuse('MUTATION_BY_GET', 'Mutations are only answered by POST.')
    const { statements, variables } = document.prepare(request.variables)
    return { document, statements, bound: statements.statements.map((statement) => bind(statement, variables)) }
  })
  tried.statements = statements
  const exchange = { caller, version, readOnly: !statements.writes, statements: bound }
  const asked = extensionsOf(loaded.engine, request)
  if (asked === null) return toResponse(statements, await send(exchange))
  const { rows, extensions } = await runExtended(send, loaded.engine, asked, exchange, () => ({
    statements,
    plan: document.plan(request.variables),
  }))
  return toResponse(statements, rows, extensions)
}


/**
 * A refusal speaks about the schema, so it has to be about the schema of now: before it is given, the version and the
 * role are checked as they are for every other request.
 */
function checked<T>(run: RunExchange, asker: Asker, work: () => T): T | Promise<T> {
  try {
    return withinStack(work)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return stillTrue(run, asker, error)
  }
}

async function stillTrue(run: RunExchange, asker: Asker, refusal: Refusal): Promise<never> {
  await run({ ...asker, readOnly: true, statements: [] }).catch((failure: unknown) => {
    if (failure instanceof Refusal) throw failure
    if (failure instanceof DatabaseFailure && (failure.kind === 'stale' || failure.kind === 'role-refused'))
      throw failure
  })
  throw refusal
}

function admitted({ engine: { manifest } }: Loaded, request: GraphqlRequest, { role }: Caller): Admission | null {
  if (manifest.refusal !== null) throw refuse('SCHEMA_COMMENT_INVALID', manifest.refusal)
  return admit(manifest, request, role)
}
