import { introspectionFromSchema, type IntrospectionQuery } from 'graphql'
import type { Caller, Exchange, RequestContext, RunExchange } from '../contract/execution.ts'
import type { RevisionSource } from '../contract/revision.ts'
import { DatabaseFailure } from '../db/failures.ts'
import type { Engine } from '../engine/engine.ts'
import { after } from '../lib/after.ts'
import { admit, type Admission } from './allowlist/admission.ts'
import { behindList, createTexts, exchangeOf, textOf, type Asker, type Texts } from './allowlist/listed.ts'
import { createPrepareAhead } from './allowlist/prepare-ahead.ts'
import { bind } from './bind.ts'
import { createCell, type Cell, type Loaded } from './cell.ts'
import { checkCost } from './cost-limit.ts'
import type { Document } from './document.ts'
import { extensionsOf, runExtended } from './extensions.ts'
import { refuse, Refusal } from './failures.ts'
import { withinStack } from './limits.ts'
import { toFailure, toResponse } from './response.ts'
import type { Statements } from './statements/statements.ts'
import type { GraphqlRequest, GraphqlResponse } from './types.ts'

/** THE PAGE: how one request is answered. */

export interface GraphqlService {
  /** Never rejects for what a caller or the database did; each of these is an answer. */
  readonly serve: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<GraphqlResponse>
  /**
   * The whole API of a role as introspection would show it, whether the schema answers introspection or not: for the
   * owner alone. Rejects while no schema can be had.
   */
  readonly describe: (role: string) => Promise<IntrospectionQuery>
}

/** A request that meets a schema change begins again; changes that come faster than this are told to the caller. */
const maxAttempts = 8

/** How far an attempt came. */
interface Tried {
  readonly attempt: number
  loaded: Loaded | null
  statements: Statements | null
}

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
    serve: async (request, caller, context) => {
      const send: RunExchange = context === undefined ? run : (exchange) => run(exchange, context)
      for (let attempt = 1; ; attempt += 1) {
        const tried: Tried = { attempt, loaded: null, statements: null }
        try {
          return await after(engineFor(cell, request), (loaded) => {
            tried.loaded = loaded
            return answer(send, texts, loaded, request, caller, tried)
          })
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

function answer(
  run: RunExchange,
  texts: Texts,
  loaded: Loaded,
  request: GraphqlRequest,
  caller: Caller,
  tried: Tried,
): GraphqlResponse | Promise<GraphqlResponse> {
  const { engine } = loaded
  // Whoever was told that something changed compares everything.
  const standing = tried.attempt === 1 ? engine.standing(caller.role) : undefined
  const { version, manifest } = engine
  const claimsTogether = version !== null && manifest.readsClaims !== true
  const asker: Asker = { caller, claimsTogether, leaves: manifest.leaves, version, standing }
  const { query, operationName } = request
  const find = (): Document => loaded.documents.find(caller.role, query ?? '', operationName)
  const admission = checked(run, asker, () => admitted(loaded, request, caller))
  return after(admission, (listed) => {
    if (listed === null) return answerWith(run, loaded, request, asker, tried, find)
    return after(textOf(run, texts, listed, asker), (text) => {
      const findListed = (): Document => loaded.listed.find(caller.role, text, operationName, listed.hash)
      return answerWith(behindList(run, listed, text), loaded, request, asker, tried, findListed)
    })
  })
}

interface Ready {
  readonly document: Document
  readonly statements: Statements
  readonly exchange: Exchange
}

/** Answers with the document that is found; `send` runs what it asks for. */
function answerWith(
  send: RunExchange,
  loaded: Loaded,
  request: GraphqlRequest,
  asker: Asker,
  tried: Tried,
  find: () => Document,
): GraphqlResponse | Promise<GraphqlResponse> {
  const ready = checked(send, asker, () => makeReady(find(), request, asker))
  return after(ready, (made) => {
    tried.statements = made.statements
    return after(affordable(send, loaded, asker, made), () => runReady(send, loaded, request, made))
  })
}

/** Holds what the statements are estimated to cost against the limit, where there is one. Throws, or rejects with, Refusal. */
function affordable(
  send: RunExchange,
  { engine, estimates }: Loaded,
  asker: Asker,
  { exchange: { statements } }: Ready,
): void | Promise<void> {
  const limit = engine.manifest.limits?.cost
  if (limit === undefined) return
  return after(estimates.cost(send, asker, statements, limit), (cost) => checked(send, asker, () => checkCost(cost, limit)))
}

function runReady(
  send: RunExchange,
  { engine }: Loaded,
  request: GraphqlRequest,
  { document, statements, exchange }: Ready,
): GraphqlResponse | Promise<GraphqlResponse> {
  const asked = extensionsOf(engine, request)
  if (asked === null) return after(send(exchange), (rows) => toResponse(statements, rows))
  const made = () => ({ statements, plan: document.plan(request.variables) })
  return after(runExtended(send, engine, asked, exchange, made), ({ rows, extensions }) =>
    toResponse(statements, rows, extensions),
  )
}

function makeReady(document: Document, request: GraphqlRequest, asker: Asker): Ready {
  if (request.queryOnly && document.writes) throw refuse('MUTATION_BY_GET', 'Mutations are only answered by POST.')
  const { statements, variables } = document.prepare(request.variables)
  const bound = statements.statements.map((statement) => bind(statement, variables))
  return { document, statements, exchange: exchangeOf(asker, !statements.writes, bound) }
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
  await run(exchangeOf(asker, true, [])).catch((failure: unknown) => {
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
