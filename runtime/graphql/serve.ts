import { introspectionFromSchema, type IntrospectionQuery } from 'graphql'
import type { Caller, RequestContext, RunExchange } from '../contract/execution.ts'
import type { RevisionSource } from '../contract/revision.ts'
import { refusalOf } from '../contract/role-facts.ts'
import { DatabaseFailure } from '../db/failures/failures.ts'
import { endOf, notLent } from '../db/pool/waiting.ts'
import type { Engine } from '../engine/engine.ts'
import { after } from '../lib/after.ts'
import { admit, type Admission } from './allowlist/admission.ts'
import { behindList, createTexts, textOf, type Texts } from './allowlist/listed.ts'
import { createPrepareAhead } from './allowlist/prepare-ahead.ts'
import { createApart, type Apart } from './apart/apart.ts'
import type { Ready } from './apart/packing.ts'
import { bindAll } from './run/bind.ts'
import { createCell, type Cell, type Loaded } from './run/cell.ts'
import { checkCost } from './run/cost-limit.ts'
import { checkMethod } from './prepared/document.ts'
import { introspects, type Asked, type Documents } from './prepared/documents.ts'
import { extensionsOf, runExtended } from './extensions/extensions.ts'
import { isOfSchema, refuse, Refusal } from './protocol/failures.ts'
import { withinStack } from './operation/limits.ts'
import type { Plan } from './plan/types.ts'
import { readBody } from './http/request.ts'
import { exchangeOf, type Asker } from './run/exchange.ts'
import { toFailure, toResponse } from './run/response.ts'
import type { Outline, Statements } from './statements/statements.ts'
import type { GraphqlRequest, GraphqlResponse } from './protocol/types.ts'

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
  outline: Outline | null
}

/** Whatever the last attempt met was about a schema that is gone. */
const keptChanging = new DatabaseFailure('stale', 'the schema kept changing', null, null)

export interface ServiceParts {
  readonly database: { readonly run: RunExchange }
  readonly source: RevisionSource
  /** The clock, in milliseconds. */
  readonly now?: () => number
  readonly apart?: Apart
}

export function createService(parts: ServiceParts): GraphqlService {
  const { database, source, now = Date.now, apart = createApart() } = parts
  const { run } = database
  const cell = createCell(source, now)
  const texts = createTexts()
  const prepareAhead = createPrepareAhead(run, texts, now)
  return {
    serve: async (request, caller, context) => {
      const send: RunExchange = context === undefined ? run : (exchange) => run(exchange, context)
      for (let attempt = 1; ; attempt += 1) {
        const tried: Tried = { attempt, loaded: null, outline: null }
        try {
          return await after(engineFor(cell, request), (loaded) => {
            tried.loaded = loaded
            return answer(send, texts, apart, loaded, request, caller, tried, context)
          })
        } catch (error) {
          const again = await deservesAnother(cell, tried.loaded, error).catch((failure: unknown) => ({ failure }))
          if (typeof again === 'object') return toFailure(again.failure, null)
          if (!again) return toFailure(error, tried.outline)
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
    loaded.engine.version === null && query !== null && introspects(query) ? cell.look() : loaded,
  )
}

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
    : version === null && isOfSchema(error)

const schemaClasses: ReadonlySet<string> = new Set(['0A', '3F', '42', 'XX'])

function answer(
  run: RunExchange,
  texts: Texts,
  apart: Apart,
  loaded: Loaded,
  request: GraphqlRequest,
  caller: Caller,
  tried: Tried,
  context: RequestContext | undefined,
): GraphqlResponse | Promise<GraphqlResponse> {
  const { engine } = loaded
  // Whoever was told that something changed compares everything.
  const standing = tried.attempt === 1 ? engine.standing(caller.role) : undefined
  const { version, manifest } = engine
  const claimsTogether = version !== null && manifest.readsClaims !== true
  const asker: Asker = { caller, claimsTogether, leaves: manifest.leaves, version, standing }
  const { operationName } = request
  const admission = checked(run, asker, () => admitted(loaded, request, caller))
  return after(admission, (listed) => {
    if (listed === null) {
      const asked: Asked = { role: caller.role, text: request.query ?? '', operationName }
      return answerWith(run, apart, loaded, { documents: loaded.documents, asked }, request, asker, tried, context)
    }
    return after(textOf(run, texts, listed, asker), (text) => {
      const asked: Asked = { role: caller.role, text, operationName, mark: listed.hash }
      const found: Found = { documents: loaded.listed, asked }
      return answerWith(behindList(run, listed, text), apart, loaded, found, request, asker, tried, context)
    })
  })
}

/** A document, and where it is known if it is. */
interface Found {
  readonly documents: Documents
  readonly asked: Asked
}

/** Answers with the document that is found; `send` runs what it asks for. */
function answerWith(
  send: RunExchange,
  apart: Apart,
  loaded: Loaded,
  found: Found,
  request: GraphqlRequest,
  asker: Asker,
  tried: Tried,
  context: RequestContext | undefined,
): GraphqlResponse | Promise<GraphqlResponse> {
  const ready = checked(send, asker, () => makeReady(apart, loaded, found, request, asker, context))
  return after(ready, (outline) => {
    tried.outline = outline
    return after(affordable(send, loaded, asker, outline), () => runReady(send, loaded, found, request, asker, outline))
  })
}

/** Holds what the statements are estimated to cost against the limit, where there is one. Throws, or rejects with, Refusal. */
function affordable(
  send: RunExchange,
  { engine, estimates }: Loaded,
  asker: Asker,
  { bound }: Ready,
): void | Promise<void> {
  const limit = engine.manifest.limits?.cost
  if (limit === undefined) return
  return after(estimates.cost(send, asker, bound, limit), (cost) => checked(send, asker, () => checkCost(cost, limit)))
}

function runReady(
  send: RunExchange,
  { engine }: Loaded,
  found: Found,
  request: GraphqlRequest,
  asker: Asker,
  outline: Ready,
): GraphqlResponse | Promise<GraphqlResponse> {
  const exchange = exchangeOf(asker, !outline.writes, outline.bound)
  const extensions = extensionsOf(engine, request)
  if (extensions === null) return after(send(exchange), (rows) => toResponse(outline, rows))
  const made = () => madeOf(found, request)
  return after(runExtended(send, engine, extensions, exchange, made), ({ rows, extensions: more }) =>
    toResponse(outline, rows, more),
  )
}

function makeReady(
  apart: Apart,
  { revision }: Loaded,
  { documents, asked }: Found,
  request: GraphqlRequest,
  { caller }: Asker,
  context: RequestContext | undefined,
): Ready | Promise<Ready> {
  const known = (): Ready | null => {
    const document = documents.findQuickly(asked)
    if (document === null) return null
    checkMethod(document, request.queryOnly)
    const prepared = request.unread === undefined ? document.ready(request.variables) : null
    if (prepared === null) return null
    const { writes, pieces } = prepared.statements
    return { writes, pieces, bound: bindAll(prepared) }
  }
  const whenItsTurn = (): Ready | null => {
    const ended = endOf(context)
    if (ended !== null) throw notLent(ended)
    return known()
  }
  const party = context?.party ?? caller.claims
  return known() ?? apart.read({ revision, documents, asked, request }, party, whenItsTurn)
}

/** What statements were written from, for whoever asks to have them explained. */
function madeOf(
  { documents, asked }: Found,
  { unread, variables }: GraphqlRequest,
): { statements: Statements; plan: Plan } {
  const document = documents.find(asked)
  const given = unread === undefined ? variables : readBody(unread).variables
  return { statements: document.prepare(given).statements, plan: document.plan(given) }
}

/**
 * A refusal speaks about the schema, so it has to be about the schema of now: before it is given, the version and the
 * role are checked as they are for every other request.
 */
function checked<T>(run: RunExchange, asker: Asker, work: () => T | Promise<T>): T | Promise<T> {
  const refused = (error: unknown): Promise<never> => {
    if (!isOfSchema(error)) throw error
    return stillTrue(run, asker, error)
  }
  try {
    const done = withinStack(work)
    return done instanceof Promise ? done.catch(refused) : done
  } catch (error) {
    return refused(error)
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
  const refusal = refusalOf(manifest, role)
  if (refusal !== null) throw refuse('SCHEMA_COMMENT_INVALID', refusal)
  return admit(manifest, request, role)
}
