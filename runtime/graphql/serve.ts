import { introspectionFromSchema, type IntrospectionQuery } from 'graphql'
import type { Caller, RequestContext } from '../contract/execution.ts'
import type { Interest } from '../contract/live.ts'
import type { RevisionSource } from '../contract/revision.ts'
import { refusalOf } from '../contract/role-facts.ts'
import { refuseEnded } from '../db/pool/waiting.ts'
import { summaryOf, type Summary } from '../engine/summary.ts'
import { inTurns } from '../lib/steps.ts'
import { admit, type Admission } from './allowlist/admission.ts'
import { behindList, createTexts, listedText, type Texts } from './allowlist/listed.ts'
import { createPrepareAhead } from './allowlist/prepare-ahead.ts'
import { createApart, type Apart } from './apart/apart.ts'
import type { Ready } from './apart/packing.ts'
import { extensionsOf, runExtended } from './extensions/extensions.ts'
import { readBody } from './http/request.ts'
import type { Plan } from './plan/types.ts'
import { introspects } from './operation/introspects.ts'
import type { DocumentRequest, Documents } from './prepared/documents.ts'
import { checkMethod } from './prepared/method.ts'
import { refuse } from './protocol/failures.ts'
import type { GraphqlRequest, GraphqlResponse } from './protocol/types.ts'
import { bindAll } from './run/bind.ts'
import { cacheStatsOf, type CacheStats } from './run/cache-stats.ts'
import { createCell, type EngineCell } from './run/cell.ts'
import { checkEstimate } from './run/check-estimate.ts'
import { exchangeOf } from './run/exchange.ts'
import { interestsOf } from './run/interests.ts'
import { createLoad, type Loaded } from './run/loaded.ts'
import { againOnNewerSchema, refusedByNow } from './run/on-schema-of-now.ts'
import { failedInOneOfSeveral, toResponse } from './run/response.ts'
import { createTenants, hasTenants, type Tenants } from './run/tenants.ts'
import { beginTurn, type ServiceDatabase, type Turn as TurnOn } from './run/turn.ts'
import { inSteps, type Statements } from './statements/statements.ts'

/**
 * THE PAGE: how one request is answered. Once for each document, role and engine: parse and validate (operation/), plan
 * (plan/), write (statements/), kept by prepared/. For each request: admit, find, prepare, bind, run, respond.
 */

export interface GraphqlService {
  /** Never rejects for what a caller or the database did; each of these is an answer. */
  readonly serve: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<GraphqlResponse>
  /**
   * What a request watches, which is nothing unless it is a subscription; nothing of it runs. Never rejects for what a caller
   * or the database did.
   */
  readonly watch: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<WatchAnswer>
  /**
   * The whole API of a role as introspection would show it, whether the schema answers introspection or not: for the
   * owner alone. Null: it answers compiled documents only. Rejects while no schema can be had.
   */
  readonly describe: (role: string) => Promise<IntrospectionQuery | null>
  /** How much of the database the API shows. Null: it answers compiled documents only. Rejects while no schema can be had. */
  readonly summary: () => Promise<Summary | null>
  /** Null: no schema is loaded yet. */
  readonly caches: () => CacheStats | null
}

export type WatchAnswer =
  | { readonly kind: 'refused'; readonly response: GraphqlResponse }
  /** A query or a mutation, which `serve` answers. */
  | { readonly kind: 'once' }
  | {
      readonly kind: 'watch'
      /** Changes that matter, as the schema of this revision has them; `serve` makes each answer, where `live` is true. */
      readonly interests: readonly Interest[]
      readonly revision: string
    }

export interface ServiceParts {
  readonly database: ServiceDatabase
  readonly source: RevisionSource
  /** The clock, in milliseconds. */
  readonly now?: () => number
  readonly apart?: Apart
}

type Turn = TurnOn<Loaded>

export function createService(parts: ServiceParts): GraphqlService {
  const { database, source, now = Date.now, apart = createApart() } = parts
  const { run } = database
  const cell = createCell(createLoad(source, now), now)
  const texts = createTexts()
  const tenants = createTenants()
  const prepareAhead = createPrepareAhead(run, texts, now)
  const inTurn = <T>(
    request: GraphqlRequest,
    caller: Caller,
    context: RequestContext | undefined,
    load: () => Promise<Loaded>,
    work: (turn: Turn) => Promise<T>,
  ): Promise<T | GraphqlResponse> =>
    againOnNewerSchema(
      cell,
      async (isFirst) => beginTurn(database, await load(), request, caller, context, isFirst),
      async (turn) => {
        try {
          return await work(turn)
        } finally {
          prepareAhead(turn.loaded)
        }
      },
    )
  return {
    serve: (request, caller, context) =>
      inTurn(
        request,
        caller,
        context,
        () => engineFor(cell, request),
        (turn) => answer(turn, texts, apart, tenants),
      ),
    watch: async (request, caller, context) => {
      const live = { ...request, live: true }
      // Nothing of it runs that would check the version.
      const found = await inTurn(live, caller, context, cell.look, (turn) => watched(turn, texts, apart))
      return 'outcome' in found ? { kind: 'refused', response: found } : found
    },
    describe: async (role) => introspectionFromSchema((await cell.look()).engine.view(role).complete()),
    summary: async () => {
      const { engine } = await cell.current()
      return inTurns(summaryOf(engine.manifest, (role) => engine.view(role).visible))
    },
    caches: () => {
      const loaded = cell.present()
      return loaded && cacheStatsOf(loaded, texts.stats())
    },
  }
}

/** Introspection is about the schema of now; where no request checks the version, somebody has to look first. */
async function engineFor(cell: EngineCell<Loaded>, { query }: GraphqlRequest): Promise<Loaded> {
  const loaded = await cell.current()
  return loaded.engine.version === null && query !== null && introspects(query) ? cell.look() : loaded
}

/** @param byStep where several steps in one statement failed: all that it did was undone, and now the one that fails is told */
async function answer(
  turn: Turn,
  texts: Texts,
  apart: Apart,
  tenants: Tenants,
  byStep = false,
): Promise<GraphqlResponse> {
  const { found, ready } = await prepared(turn, texts, apart, { byStep })
  turn.outline = ready
  const timeline = turn.context?.timeline ?? null
  if (timeline !== null) timeline.prepared = performance.now()
  const placed = hasTenants(ready.bound) ? { ...ready, bound: await tenants.place(found.turn, ready.bound) } : ready
  await checkEstimate(found.turn, placed.bound)
  try {
    return await runReady(found, placed)
  } catch (error) {
    if (byStep || !failedInOneOfSeveral(error, ready)) throw error
    return answer(turn, texts, apart, tenants, true)
  }
}

async function watched(turn: Turn, texts: Texts, apart: Apart): Promise<Exclude<WatchAnswer, { kind: 'refused' }>> {
  const { ready } = await prepared(turn, texts, apart, { watches: true })
  const { interests } = ready
  return interests === undefined
    ? { kind: 'once' }
    : { kind: 'watch', interests, revision: turn.loaded.engine.revision }
}

async function prepared(
  turn: Turn,
  texts: Texts,
  apart: Apart,
  how: Partial<Pick<Found, 'watches' | 'byStep'>>,
): Promise<{ found: Found; ready: Ready }> {
  const admission = await refusedByNow(turn, () => admitted(turn))
  const found = { ...(await find(turn, admission, texts)), watches: false, byStep: false, ...how }
  return { found, ready: await refusedByNow(found.turn, () => preparedHere(found) ?? preparedApart(found, apart)) }
}

function admitted({ loaded, request, asker }: Turn): Admission | null {
  const { manifest } = loaded.engine
  const { role } = asker.caller
  const refusal = refusalOf(manifest, role)
  if (refusal !== null) throw refuse('SCHEMA_COMMENT_INVALID', refusal)
  return admit(manifest, request, role)
}

/** The document of a request, and where it is known if it is. */
interface Found {
  /** What is asked in its name runs only where it is listed, if it has to be. */
  readonly turn: Turn
  readonly documents: Documents
  readonly asked: DocumentRequest
  /** It is asked what the document reads. */
  readonly watches: boolean
  /** Each step of a field is a statement. */
  readonly byStep: boolean
}

async function find(turn: Turn, admission: Admission | null, texts: Texts): Promise<Omit<Found, 'watches' | 'byStep'>> {
  const { request, loaded, asker, run } = turn
  const { role } = asker.caller
  const { operationName } = request
  if (admission === null) {
    return { turn, documents: loaded.documents, asked: { role, text: request.query ?? '', operationName } }
  }
  const text = await listedText(run, texts, admission, asker)
  const asked: DocumentRequest = { role, text, operationName, mark: admission.hash }
  const behind = behindList(run, admission, text)
  const read = turn.read === run ? behind : behindList(turn.read, admission, text)
  return { turn: { ...turn, run: behind, read }, documents: loaded.listed, asked }
}

/** Finds or makes the statements, and binds the request's values. Null: that takes more than some milliseconds. */
function preparedHere({ turn: { request }, documents, asked, watches, byStep }: Found): Ready | null {
  const document = documents.findQuickly(asked)
  if (document === null) return null
  checkMethod(document, request)
  const made = request.unread === undefined ? document.ready(request.variables) : null
  if (made === null) return null
  const chosen = byStep ? { ...made, statements: inSteps(made.statements) } : made
  const { writes, pieces } = chosen.statements
  return { writes, pieces, bound: bindAll(chosen), interests: watches ? interestsOf(made) : undefined }
}

/** The same by the thread that reads what takes long, unless meanwhile somebody else asked for it. */
function preparedApart(found: Found, apart: Apart): Promise<Ready> {
  const { documents, asked, turn, byStep } = found
  const { loaded, request, context, asker } = turn
  const whenItsTurn = (): Ready | null => {
    refuseEnded(context)
    return preparedHere(found)
  }
  const party = context?.party ?? asker.caller.claims
  return apart.read({ revision: loaded.revision, documents, asked, request, byStep }, party, whenItsTurn)
}

async function runReady(found: Found, ready: Ready): Promise<GraphqlResponse> {
  const { run, read, loaded, asker, request } = found.turn
  const exchange = exchangeOf(asker, !ready.writes, ready.bound)
  const asked = extensionsOf(loaded.engine, request)
  if (asked === null) return ofRevision(found.turn, toResponse(ready, await (ready.writes ? run : read)(exchange)))
  const { rows, extensions } = await runExtended(run, loaded.engine, asked, exchange, () => madeOf(found))
  return ofRevision(found.turn, toResponse(ready, rows, extensions))
}

const ofRevision = ({ request, loaded }: Turn, response: GraphqlResponse): GraphqlResponse =>
  request.live === true ? { ...response, revision: loaded.engine.revision } : response

/** What statements were written from, for requests that select `explain`. */
function madeOf({ documents, asked, turn: { request }, byStep }: Found): { statements: Statements; plan: Plan } {
  const document = documents.find(asked)
  const variables = request.unread === undefined ? request.variables : readBody(request.unread).variables
  const { statements } = document.prepare(variables)
  return { statements: byStep ? inSteps(statements) : statements, plan: document.plan(variables) }
}
