import { introspectionFromSchema, type IntrospectionQuery } from 'graphql'
import type { Caller, RequestContext } from '../contract/execution.ts'
import type { RevisionSource } from '../contract/artifact.ts'
import { refusalOf } from '../contract/facts.ts'
import { refuseEnded } from '../db/pool/waiting.ts'
import type { EngineAdditions } from '../engine/additions.ts'
import { summaryOf, type Summary } from '../engine/summary.ts'
import { once } from '../lib/caches.ts'
import { inTurns } from '../lib/steps.ts'
import { admit, type Admission } from './allowlist/admission.ts'
import { createTexts, listedText, runWhileListed, type Texts } from './allowlist/listed.ts'
import { createPrepareAhead } from './allowlist/prepare-ahead.ts'
import type { Apart } from './apart/apart.ts'
import { readBody } from './http/request.ts'
import { introspects } from './operation/introspects.ts'
import type { Plan } from './plan/plan-nodes.ts'
import type { DocumentRequest, Documents } from './prepared/documents.ts'
import { refuse } from './protocol/failures.ts'
import type { GraphqlRequest, GraphqlResponse } from './protocol/request-and-answer.ts'
import { runWithReport, type SchemaReport } from './report/report.ts'
import { bindAll } from './run/bind.ts'
import { cacheStatsOf, type CacheStats, createKeep, createLoad, type Loaded } from './run/served.ts'
import {
  createCell,
  type EngineCell,
  createRequestState,
  checkMethod,
  exchangeOf,
  type Ready,
  type ServiceDatabase,
  type RequestState,
} from './run/request-state.ts'
import { askedExtensions, runExtended, type Extension } from './run/extended.ts'
import { interestsOf } from './run/interests.ts'
import {
  createExecution,
  createPipeline,
  exchange,
  recheckBeforeRefusal,
  type PipelineStage,
  type Stages,
  type WatchAnswer,
} from './run/pipeline.ts'
import { inSteps, type Statements } from './statements/statements.ts'

/**
 * The stages of a request (docs/requests.md). Once for each document, role and engine: parse and validate (operation/),
 * plan (plan/), write (statements/), kept by prepared/. For each request the stages of `createStages`, in their order
 * (run/pipeline.ts).
 */

export interface GraphqlService {
  /** Never rejects because of the caller or the database; such failures are answers. */
  readonly serve: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<GraphqlResponse>
  /**
   * The interests of a request, which are empty unless it is a subscription; nothing of it runs. Never rejects because
   * of the caller or the database.
   */
  readonly watch: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<WatchAnswer>
  /**
   * The whole API of a role as introspection would show it, even if the schema does not answer introspection: for the
   * owner only. Null: only compiled documents are served. Rejects while no schema is available.
   */
  readonly describe: (role: string) => Promise<IntrospectionQuery | null>
  /**
   * The schema report on a role, whatever the comments of the schemas allow: for the owner only. Null: only compiled documents are
   * served. Rejects while no schema is available, and with DatabaseFailure.
   */
  readonly report: (role: string) => Promise<SchemaReport | null>
  /** Like `serve`, with statements and plans under `extensions.explain`, whatever the comments allow: for the owner only. */
  readonly explain: GraphqlService['serve']
  /** The extent of the API in the database. Null: only compiled documents are served. Rejects without a schema. */
  readonly summary: () => Promise<Summary | null>
  /** Null: no schema is loaded yet. */
  readonly caches: () => CacheStats | null
}

/** The handling of requests by an addition (spec/graphql.md 17). */
export interface ServiceAddition {
  readonly extension?: Extension
}

export interface ServiceParts {
  readonly database: ServiceDatabase
  readonly source: RevisionSource
  /** The clock, in milliseconds. */
  readonly now?: () => number
  readonly apart?: Apart
  /** Receives failures before they are answered. */
  readonly failed?: (error: unknown) => void
}

interface TextRequestState extends RequestState<Loaded> {
  /** Null: the request's own text runs without a check. */
  admission: Admission | null
  documents: Documents
  asked: DocumentRequest
}

interface MadeParts {
  readonly apart: Apart
  readonly engineAdditions: EngineAdditions
}

export function createService(parts: ServiceParts & MadeParts, additions: readonly ServiceAddition[]): GraphqlService {
  const { database, source, now = Date.now, apart, engineAdditions, failed } = parts
  const cell = createCell(createLoad(source, engineAdditions, now), now, { keep: createKeep(now) })
  const texts = createTexts()
  const pipeline = (explains: boolean) =>
    createPipeline<Loaded, TextRequestState>({
      cell,
      load: loadFor(cell),
      look: cell.look,
      begin: (loaded, received, isFirst) => {
        const state = createRequestState(database, loaded, received, isFirst)
        const { query, operationName } = received.request
        const asked = { role: received.caller.role, text: query ?? '', operationName }
        return Object.assign(state, { admission: null, documents: loaded.documents, asked })
      },
      stagesOf: createStages(database, extensionsOf(additions), explains, texts, apart, now),
      failed,
    })
  const { serve, watch } = pipeline(false)
  const explaining = once(() => pipeline(true))
  return {
    serve,
    watch,
    describe: async (role) => introspectionFromSchema((await cell.look()).engine.view(role).complete()),
    report: async (role) => {
      const { revision, engine } = await cell.look()
      const facts = await revision.report?.()
      if (facts === undefined) return null
      const { manifest, view } = engine
      const reporting = { manifest, facts, view: view(role), anon: view('anon').visible }
      const exchange = { caller: { role, claims: '{}' }, version: null, readOnly: true, statements: [] }
      return (await runWithReport(database.run, exchange, reporting)).report
    },
    explain: (request, ...asked) =>
      explaining().serve({ ...request, extensions: { ...request.extensions, explain: true } }, ...asked),
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

const extensionsOf = (additions: readonly ServiceAddition[]): readonly Extension[] =>
  additions.flatMap(({ extension }) => extension ?? [])

/** Introspection must describe the current schema; if no request checks the version, a look comes first. */
const loadFor =
  (cell: EngineCell<Loaded>) =>
  ({ query }: GraphqlRequest): Loaded | Promise<Loaded> => {
    const found = cell.current()
    if (found instanceof Promise) return found.then((loaded) => newestFor(cell, loaded, query))
    return found.engine.version === null ? newestFor(cell, found, query) : found
  }

const newestFor = (cell: EngineCell<Loaded>, loaded: Loaded, query: string | null): Loaded | Promise<Loaded> =>
  loaded.engine.version === null && query !== null && introspects(query) ? cell.look() : loaded

function createStages(
  { run }: ServiceDatabase,
  extensions: readonly Extension[],
  explains: boolean,
  texts: Texts,
  apart: Apart,
  now: () => number,
): (loaded: Loaded) => Stages<TextRequestState> {
  const prepareAhead = createPrepareAhead(run, texts, now)
  const executionOf = createExecution<TextRequestState>()
  const find = findListed(texts)
  const document = [recheckBeforeRefusal(prepare(apart))]
  const make = (loaded: Loaded): Stages<TextRequestState> => {
    const { manifest } = loaded.engine
    const { refusal, allowlists } = manifest
    const served = extensions.filter(({ name, fact }) => (explains ? name === 'explain' : manifest[fact] !== undefined))
    return {
      admission: [
        ...(refusal === null ? [] : [recheckBeforeRefusal(refuseUnreadable)]),
        recheckBeforeRefusal(admitDocument),
        ...(allowlists === undefined ? [] : [find]),
      ],
      document,
      afterwards: allowlists === undefined ? null : ({ loaded }) => prepareAhead(loaded),
      execution: executionOf(loaded, served.length > 0 ? exchangeExtended(served) : exchange),
    }
  }
  let last: { readonly loaded: Loaded; readonly stages: Stages<TextRequestState> } | null = null
  return (loaded) => {
    if (last?.loaded !== loaded) last = { loaded, stages: make(loaded) }
    return last.stages
  }
}

/** A comment that cannot be read may concern the role's permissions (spec/graphql.md 13.1). */
function refuseUnreadable({ loaded, exchangeContext }: TextRequestState): void {
  const refusal = refusalOf(loaded.engine.manifest, exchangeContext.caller.role)
  if (refusal !== null) throw refuse('SCHEMA_COMMENT_INVALID', refusal)
}

/** Decides whether the document must be listed. */
function admitDocument(state: TextRequestState): void {
  const { request, loaded, exchangeContext } = state
  const { manifest } = loaded.engine
  if (manifest.allowlists === undefined && request.query !== null && !('persistedQuery' in request.extensions)) return
  state.admission = admit(manifest, request, exchangeContext.caller.role)
}

/** The text of a listed document, which runs while it is listed. */
const findListed =
  (texts: Texts): PipelineStage<TextRequestState> =>
  async (state) => {
    const { admission, loaded, exchangeContext, run } = state
    if (admission === null) return
    const text = await listedText(run, texts, admission, exchangeContext)
    state.asked = { ...state.asked, text, mark: admission.hash }
    state.documents = loaded.listed
    runWhileListed(state, admission, text)
  }

/** Makes the request ready: on this thread, or on the reader thread for long work. */
const prepare =
  (apart: Apart): PipelineStage<TextRequestState> =>
  (state) => {
    const ready = preparedHere(state)
    if (ready === null) return preparedApart(state, apart)
    state.ready = ready
    return undefined
  }

/** Finds or makes the statements, and binds the request's values. Null: that would take more than some milliseconds. */
function preparedHere({ request, documents, asked, watches, byStep }: TextRequestState): Ready | null {
  const document = documents.findQuickly(asked)
  if (document === null) return null
  checkMethod(document, request)
  const made = request.unread === undefined ? document.ready(request.variables) : null
  if (made === null) return null
  const chosen = byStep ? { ...made, statements: inSteps(made.statements) } : made
  const { writes, pieces } = chosen.statements
  return { writes, pieces, bound: bindAll(chosen), interests: watches ? interestsOf(made) : undefined }
}

/** The same on the reader thread, unless another request has done it in the meantime. */
async function preparedApart(state: TextRequestState, apart: Apart): Promise<void> {
  const { loaded, request, context, exchangeContext, documents, asked, byStep } = state
  const whenItsTurn = (): Ready | null => {
    refuseEnded(context)
    return preparedHere(state)
  }
  const party = context?.party ?? exchangeContext.caller.claims
  state.ready = await apart.read({ revision: loaded.revision, documents, asked, request, byStep }, party, whenItsTurn)
}

/** Like `exchange`, with the extensions that the request asks for. */
const exchangeExtended =
  (served: readonly Extension[]): PipelineStage<TextRequestState> =>
  async (state) => {
    const { loaded, request, ready } = state
    const asked = askedExtensions(served, request)
    if (asked.length === 0 || ready === null) return exchange(state)
    const sent = exchangeOf(state.exchangeContext, !ready.writes, ready.bound)
    const extended = { engine: loaded.engine, made: () => madeOf(state) }
    const { rows, extensions } = await runExtended(asked, state.run, sent, extended)
    state.rows = rows
    state.extensions = extensions
  }

function madeOf({ documents, asked, request, byStep }: TextRequestState): { statements: Statements; plan: Plan } {
  const document = documents.find(asked)
  const variables = request.unread === undefined ? request.variables : readBody(request.unread).variables
  const { statements } = document.prepare(variables)
  return { statements: byStep ? inSteps(statements) : statements, plan: document.plan(variables) }
}
