import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller, RequestContext, BoundStatement, Cell, OpenStatement } from '../../contract/execution.ts'
import type { Interest } from '../../contract/live.ts'
import type { Manifest } from '../../contract/manifest.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { refuseEnded } from '../../db/pool/waiting.ts'
import { pauseMs, retries } from '../../lib/retry.ts'
import { within } from '../../lib/timers.ts'
import { tooDeep, isOfSchema } from '../protocol/failures.ts'
import type { GraphqlRequest, GraphqlResponse } from '../protocol/request-and-answer.ts'
import {
  type EngineCell,
  type Running,
  exchangeOf,
  type Ready,
  type RequestState,
  type ReceivedRequest,
} from './request-state.ts'
import type { Concerns } from './concerns.ts'
import { checkCost, type Estimates } from './cost-limit.ts'
import { failedInOneOfSeveral, toFailure, toResponse } from './response.ts'
import { createLru } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import { printOpen } from '../../sql/print.ts'
import { selectList, trusted } from '../../sql/tree.ts'

/**
 * The order of a request's stages, for text and compiled documents. A stage that a schema does not need is absent from
 * its list.
 */
export interface Stages<T> {
  /** Admit the request. */
  readonly admission: readonly PipelineStage<T>[]
  /** Find its document, read its variables and bind them: afterwards the request is ready. */
  readonly document: readonly PipelineStage<T>[]
  /** Place tenants, compare the estimate with its limit, exchange with the database. */
  readonly execution: readonly PipelineStage<T>[]
  /** Starts background work after this request; null: none. */
  readonly afterwards: ((state: T) => void) | null
}

export type PipelineStage<T> = (state: T) => void | Promise<void>

interface PipelineParts<L extends Running, T extends RequestState<L>> {
  readonly cell: EngineCell<L>
  /** The engine that answers a request. */
  readonly load: (request: GraphqlRequest) => L | Promise<L>
  /** The engine for watching a document: no exchange will check its version. */
  readonly look: () => L | Promise<L>
  readonly begin: (loaded: L, received: ReceivedRequest, isFirst: boolean) => T
  readonly stagesOf: (loaded: L) => Stages<T>
  /** Receives failures before they are answered; absent: not needed. */
  readonly failed?: ((error: unknown) => void) | undefined
}

export type WatchAnswer =
  | { readonly kind: 'refused'; readonly response: GraphqlResponse }
  /** A query or a mutation, which `serve` answers. */
  | { readonly kind: 'once' }
  | {
      readonly kind: 'watch'
      /** Changes that matter, in the schema of this revision; `serve` makes each answer, with `live` true. */
      readonly interests: readonly Interest[]
      readonly revision: string
    }

interface Pipeline {
  /** Never rejects because of the caller or the database. */
  readonly serve: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<GraphqlResponse>
  /** The interests of the document; nothing of it runs. */
  readonly watch: (request: GraphqlRequest, caller: Caller, context?: RequestContext) => Promise<WatchAnswer>
}

export function createPipeline<L extends Running, T extends RequestState<L>>(parts: PipelineParts<L, T>): Pipeline {
  const { cell, load, look, begin, stagesOf, failed } = parts
  /** Makes attempts, each on a newer engine, until one does not fail because of its schema. Never rejects. */
  const attempt = async <R>(
    work: (state: T, stages: Stages<T>) => R | Promise<R>,
    received: ReceivedRequest,
  ): Promise<R | GraphqlResponse> => {
    let until = Infinity
    for (let count = 1; ; count += 1) {
      let state: T | null = null
      try {
        const loaded = received.watches ? look() : load(received.request)
        const present = loaded instanceof Promise ? await loaded : loaded
        state = begin(present, received, count === 1)
        return await prepared(state, work)
      } catch (error) {
        if (performance.now() >= until) return toFailure(keptChanging, null)
        if (count === 1) until = endOfWaiting(received)
        const again = await mayRetry(cell, state, error, until).catch((failure: unknown) => ({ failure }))
        const failure = typeof again === 'object' ? again.failure : error
        failed?.(failure)
        if (typeof again === 'object') return toFailure(failure, null)
        if (!again) return toFailure(error, state?.ready ?? null)
        const pause = Math.floor(pauseMs(retries.newerSchema, count))
        if (pause > 0) await sleep(pause)
      }
    }
  }
  const prepared = async <R>(state: T, work: (state: T, stages: Stages<T>) => R | Promise<R>): Promise<R> => {
    const stages = stagesOf(state.loaded)
    try {
      const admitting = through(stages.admission, state)
      if (admitting !== undefined) await admitting
      const preparing = through(stages.document, state)
      if (preparing !== undefined) await preparing
      if (state.loaded.concerns !== undefined) refuseConcerned(state, state.loaded.concerns)
      if (state.context?.timeline) state.context.timeline.prepared = performance.now()
      return await work(state, stages)
    } finally {
      stages.afterwards?.(state)
    }
  }
  const executed = async (state: T, stages: Stages<T>): Promise<GraphqlResponse> => {
    try {
      await through(stages.execution, state)
    } catch (error) {
      if (state.byStep || !failedInOneOfSeveral(error, readyOf(state))) throw error
      // Everything it did was rolled back; now the failing step is reported.
      state.byStep = true
      await through(stages.document, state)
      await through(stages.execution, state)
    }
    const response = toResponse(readyOf(state), state.rows, state.extensions)
    return state.request.live === true ? { ...response, revision: state.loaded.engine.revision } : response
  }
  const watched = (state: T): WatchAnswer => {
    const { interests } = readyOf(state)
    return interests === undefined
      ? { kind: 'once' }
      : { kind: 'watch', interests, revision: state.loaded.engine.revision }
  }
  return {
    serve: (request, caller, context) => attempt(executed, { request, caller, context, watches: false }),
    watch: async (request, caller, context) => {
      const live = { ...request, live: true }
      const found = await attempt(watched, { request: live, caller, context, watches: true })
      return 'outcome' in found ? { kind: 'refused', response: found } : found
    },
  }
}

/** Runs stages in order. The promise of one that waits is returned: most stages of a known document do not wait. */
function through<T>(stages: readonly PipelineStage<T>[], state: T): void | Promise<void> {
  for (let index = 0; index < stages.length; index += 1) {
    const pending = stages[index]?.(state)
    if (pending === undefined) continue
    return index === stages.length - 1 ? pending : pending.then(() => through(stages.slice(index + 1), state))
  }
}

const readyOf = <L extends Running>({ ready }: RequestState<L>): Ready => {
  if (ready === null) throw new Error('the document of a request was not prepared')
  return ready
}

/** The request's time ended before an attempt met the schema that it was prepared for. */
const keptChanging = new DatabaseFailure('stale', 'the schema kept changing', null, null)

/** A change after the compile of its schema may concern the request. */
const concerned = new DatabaseFailure('stale', 'the schema changed', null, null)

/** @throws DatabaseFailure if the request needs the newest schema */
function refuseConcerned({ request, watches, ready }: RequestState<Running>, concerns: Concerns): void {
  if (watches || ready === null || concerns(request, ready.bound)) throw concerned
}

/** The longest wait of a request without a deadline, in milliseconds. */
const longestWaitMs = 60_000

/** When a request stops waiting for a schema, on the monotonic clock in milliseconds. */
const endOfWaiting = ({ context }: ReceivedRequest): number =>
  Math.min(context?.deadline ?? Infinity, performance.now() + longestWaitMs)

/**
 * Whether a failed request may succeed on another engine. Everything it did was rolled back, so it can begin again.
 * Rejects if the newest engine is not available before `until`.
 */
async function mayRetry<L extends Running>(
  cell: EngineCell<L>,
  state: RequestState<L> | null,
  error: unknown,
  until: number,
): Promise<boolean> {
  if (state === null) return false
  const { loaded, context } = state
  if (error instanceof DatabaseFailure && error.kind === 'stale') {
    if (context?.aborted === true) refuseEnded(context)
    const newest = cell.after(loaded, error === concerned)
    if (!(await within(Math.max(0, until - performance.now()), newest))) throw keptChanging
    return true
  }
  if (!speaksOfSchema(error, loaded.engine)) return false
  const newest: L = await cell.look().catch(() => loaded)
  return newest.engine !== loaded.engine
}

/**
 * Errors that a change of the schema causes if it comes between a request's check of the version and its statements:
 * unknown or altered objects, missing privileges, changed results (PostgreSQL manual, appendix A). If no request checks
 * the version, our own refusal may be outdated as well, and newer files may have replaced a missing one.
 */
const speaksOfSchema = (error: unknown, { version }: Running['engine']): boolean =>
  error instanceof DatabaseFailure
    ? error.sqlstate !== null && schemaClasses.has(error.sqlstate.slice(0, 2))
    : isOfSchema(error) && (version === null || error.code === 'DOCUMENT_DAMAGED')

const schemaClasses: ReadonlySet<string> = new Set(['0A', '3F', '42', 'XX'])

/**
 * A stage that may refuse the request. A refusal depends on the schema, which must be current: before it is given, the
 * version and the role are checked as for every other request. A document that exhausts the stack is nested too deeply.
 */
export const recheckBeforeRefusal =
  <T extends RequestState<Running>>(stage: PipelineStage<T>): PipelineStage<T> =>
  (state) => {
    try {
      return stage(state)?.catch((error: unknown) => refuseAfterRecheck(state, error))
    } catch (error) {
      return refuseAfterRecheck(state, error)
    }
  }

/** Rejects with the refusal or, if the schema changed or the check failed, with an error that allows an attempt. */
async function refuseAfterRecheck(state: RequestState<Running>, error: unknown): Promise<never> {
  const { run, exchangeContext, loaded } = state
  const refusal = error instanceof RangeError ? tooDeep() : error
  if (isOfSchema(refusal) && loaded.concerns !== undefined) throw concerned
  if (isOfSchema(refusal)) await run(exchangeOf(exchangeContext, true, []))
  throw refusal
}

/** The dependencies of executing a document. */
interface Executing extends Running {
  readonly engine: Running['engine'] & { readonly manifest: Pick<Manifest, 'limits' | 'distributed'> }
  readonly estimates: Estimates
}

/** @param exchange the last stage: sends the statements and keeps their rows */
export function createExecution<T extends RequestState<Executing>>(): (
  loaded: Executing,
  exchange: PipelineStage<T>,
) => readonly PipelineStage<T>[] {
  const tenants = createTenants()
  const placeTenants: PipelineStage<T> = async (state) => {
    const ready = readyOf(state)
    const bound = await tenants.place(state, ready.bound)
    if (bound !== ready.bound) state.ready = { ...ready, bound }
  }
  return ({ engine: { manifest } }, exchange) => [
    ...(manifest.distributed === undefined ? [] : [placeTenants]),
    ...(manifest.limits?.cost === undefined ? [] : [checkEstimate(manifest.limits.cost)]),
    exchange,
  ]
}

const checkEstimate =
  (limit: number): PipelineStage<RequestState<Executing>> =>
  async (state) => {
    const { loaded, run, exchangeContext } = state
    const cost = await loaded.estimates.cost(run, exchangeContext, readyOf(state).bound, limit)
    await recheckBeforeRefusal(() => checkCost(cost, limit))(state)
  }

/** Sends the statements in one round trip. */
export async function exchange<L extends Running>(state: RequestState<L>): Promise<void> {
  const { writes, bound } = readyOf(state)
  state.rows = await (writes ? state.run : state.read)(exchangeOf(state.exchangeContext, !writes, bound))
}

type AnyRequestState = RequestState<Running>

/**
 * The tenant of a caller, whose rows of a distributed database lie on one server. The value that policies compare with
 * is a function of the claims alone, so the database is asked for it once per caller.
 */
interface Tenants {
  /** The statements with their tenants' values. Rejects if the database cannot compute these. */
  readonly place: (state: AnyRequestState, bound: readonly BoundStatement[]) => Promise<readonly BoundStatement[]>
}

type Values = ReadonlyMap<string, string | null>

/** In characters of claims and values. */
const keptCharacters = 4_000_000

const createTenants = (): Tenants => {
  const known = createLru<string, Values>(keptCharacters, (values, subject) =>
    [...values].reduce((sum, [expression, value]) => sum + expression.length + (value?.length ?? 0), subject.length),
  )
  const valuesFor = async (state: AnyRequestState, expressions: readonly string[]): Promise<Values> => {
    const { caller, version } = state.exchangeContext
    // The expression that auth.uid() reads from the claims may change with the version.
    const subject = JSON.stringify([version, caller.claims])
    const before = known.get(subject) ?? new Map<string, string | null>()
    const missing = expressions.filter((expression) => !before.has(expression))
    if (missing.length === 0) return before
    const [row = []] = await state.run(exchangeOf(state.exchangeContext, true, [asking(missing)]))
    const values = new Map([
      ...before,
      ...missing.map((expression, place) => [expression, boundText(row[place])] as const),
    ])
    known.set(subject, values)
    return values
  }
  return {
    place: async (state, bound) => {
      if (!hasTenants(bound)) return bound
      const expressions = new Set(bound.flatMap(({ tenants = [] }) => tenants.map(({ expression }) => expression)))
      const values = await valuesFor(state, [...expressions])
      return bound.map((statement) => placed(statement, values))
    },
  }
}

const hasTenants = (bound: readonly BoundStatement[]): boolean => bound.some(({ tenants }) => tenants !== undefined)

const asking = (expressions: readonly string[]): OpenStatement => {
  const { text } = printOpen(selectList(expressions.map((expression) => ({ value: trusted(expression) }))))
  return { name: `catalograph.tenant.${sha256Hex(text).slice(0, 16)}`, text, values: [], carriesCheck: true }
}

const boundText = (cell: Cell | undefined): string | null => cell?.toString() ?? null

const placed = (statement: BoundStatement, known: Values): BoundStatement => {
  const { tenants = [] } = statement
  const byPlace = new Map(tenants.map(({ at, expression }) => [at, known.get(expression) ?? null]))
  const values = statement.values.map((value, at) => byPlace.get(at) ?? value)
  return { ...statement, values, tenants: undefined }
}
