import type { Exchange, RequestContext, RunExchange } from '../../contract/execution.ts'
import { createUnorderedSet, type UnorderedSet, createDeadlines, type SetDeadline } from '../../lib/timers.ts'
import { retries } from '../../lib/retry.ts'
import type { EndCause, Cancellations } from './cancel.ts'
import { invalidatesConnection, sqlstateOf } from '../failures/classify.ts'
import { outOfAnswerMemory, type Connection, type Grow } from '../wire/exchange.ts'
import { DatabaseFailure } from '../failures/failures.ts'
import { checkingApart } from '../check/distributed.ts'
import { acquireConnection, releaseConnection, type ConnectionPool } from './connections.ts'
import type { SchemaMarks } from '../check/schema-marks.ts'
import type { RoleSettings, RoleSettingsReader } from '../check/role-settings.ts'
import { patienceMs, type TrackedAnswer, type AnswerMemory } from './answer-memory.ts'
import { cleanUpSession } from '../check/block.ts'
import { isUnchecked, outcome, type RunOnConnection, type TransactionResult } from '../check/transaction.ts'
import { refusedConnection, refuseEnded } from './waiting.ts'

/** How an exchange runs: on an acquired connection, until it ends or is cancelled; some failures are retried. */

/** Runs an exchange on a connection, and releases it once nothing of the exchange is in flight. */
export type RunOnce = (exchange: Exchange, context: RequestContext | undefined) => Promise<TransactionResult>

export interface RunnerParts {
  readonly connections: ConnectionPool
  readonly marks: SchemaMarks
  readonly cancellations: Cancellations
  readonly settings: RoleSettingsReader
  readonly runOnConnection: RunOnConnection
  /** Null: the memory of answers is not counted. */
  readonly answerMemory: AnswerMemory | null
  /** Milliseconds that Postgres gives a statement; 0: it gives it any. */
  readonly timeout: number
}

/** The state that the exchanges of a database share. */
export interface Runner extends RunnerParts {
  readonly setDeadline: SetDeadline
  readonly running: UnorderedSet<Running>
  /** How many requests were ended in Postgres, by cause. */
  readonly ended: Record<EndCause, number>
  /** When Postgres answered last, on the monotonic clock in milliseconds. */
  answeredAt: number
}

interface Attempt {
  readonly runner: Runner
  readonly exchange: Exchange
  readonly context: RequestContext | undefined
  /** When waiting for memory ends; null: it has not begun. */
  until: number | null
}

interface Running {
  readonly attempt: Attempt
  readonly connection: Connection
  readonly resolve: (result: TransactionResult) => void
  /** Why it is being cancelled, and until when. */
  ending: { readonly cause: EndCause; readonly done: Promise<void> } | null
  /** After it a reading request no longer waits for the cancellation. */
  readerTimeout: NodeJS.Timeout | null
  /** Of an answer that became large. */
  tracked: TrackedAnswer | null
  /** Cancels its deadline and removes it from `running`. */
  stops: readonly (() => unknown)[]
}

/** The time beyond the limits of its statements after which the connection of our own exchange counts as dead. */
const answerGrace = 5_000

/** The precision of deadlines, in milliseconds. */
const deadlineCheckMs = 50

/**
 * The time that a reading request waits for its cancellation, in milliseconds: a function may catch it, and a busy pooler
 * may forward it seconds later. A writing request waits until the outcome is known.
 */
const readersWaitMs = 500

/** A writing request may meet a read-only default of an earlier request; in a reading one the request itself is at fault. */
const isSuspect = (exchange: Exchange, error: unknown): boolean =>
  invalidatesConnection(error) && !(exchange.readOnly && sqlstateOf(error) === '25006')

/** True when the connection must not serve another request. */
export const mustDestroy = (exchange: Exchange, result: TransactionResult): boolean =>
  result.kind === 'failed' && (result.broken || isSuspect(exchange, result.error))

/** query_canceled and admin_shutdown: what our cancelling and terminating answers with. */
const endedStates: ReadonlySet<string> = new Set(['57014', '57P01'])

/**
 * The result of a request that was being ended: its rows, if they came first. Where the connection died for another
 * reason, it is unknown whether Postgres committed.
 */
export const endedBy = (cause: EndCause, { readOnly }: Exchange, result: TransactionResult): TransactionResult => {
  if (result.kind !== 'failed') return result
  const isOurs = endedStates.has(sqlstateOf(result.error) ?? '') || (result.broken && readOnly)
  return isOurs ? { ...result, error: refusedConnection(cause) } : result
}

/** For a request that did not begin, or a reading one whose connection is still being cancelled. */
export const endedUnanswered = (cause: EndCause): TransactionResult => ({
  kind: 'failed',
  error: refusedConnection(cause),
  begun: 0,
  completed: 0,
  broken: false,
})

export const createRunner = (parts: RunnerParts): Runner => ({
  ...parts,
  setDeadline: createDeadlines(deadlineCheckMs),
  running: createUnorderedSet(),
  ended: { gone: 0, deadline: 0, stopping: 0 },
  answeredAt: -Infinity,
})

export const endRunning = ({ running }: Runner, cause: EndCause): void => {
  for (const run of running.all()) endRun(run, cause)
}

export const runOn =
  (runner: Runner): RunOnce =>
  (exchange, context) =>
    begin({ runner, exchange, context, until: null })

/** Not async, nor is what it calls: each promise between a request and its answer costs all requests. */
const begin = (attempt: Attempt): Promise<TransactionResult> => {
  const { runner, exchange, context } = attempt
  const { connections, answerMemory } = runner
  // Most of the time no answer is large enough to be counted.
  if (answerMemory !== null && answerMemory.usage.bytes > 0 && !answerMemory.isAvailable(exchange, context))
    return waitForRoom(attempt, answerMemory)
  const found = acquireConnection(connections, context)
  if (!(found instanceof Promise)) return runOnAcquired(attempt, found)
  return found.then((connection) => {
    if (answerMemory === null || answerMemory.usage.bytes === 0 || answerMemory.isAvailable(exchange, context))
      return runOnAcquired(attempt, connection)
    releaseConnection(connections, connection, false)
    return waitForRoom(attempt, answerMemory)
  })
}

const waitForRoom = async (attempt: Attempt, room: AnswerMemory): Promise<TransactionResult> => {
  const { exchange, context } = attempt
  attempt.until ??= Math.min(performance.now() + patienceMs, context?.deadline ?? Infinity)
  const found = await room.wait(exchange, context, attempt.until - performance.now())
  refuseEnded(context)
  if (!found) throw outOfAnswerMemory()
  return begin(attempt)
}

const runOnAcquired = (attempt: Attempt, connection: Connection): Promise<TransactionResult> => {
  const { runner, exchange, context } = attempt
  const release = (error: unknown): never => {
    releaseConnection(runner.connections, connection, false)
    throw error
  }
  let known: RoleSettings | Promise<RoleSettings>
  try {
    // Also of one that did not wait: its document may have taken long.
    if (context !== undefined && (context.aborted || performance.now() >= context.deadline)) refuseEnded(context)
    known = runner.settings.of(exchange.caller.role)
  } catch (error) {
    return release(error)
  }
  if (!(known instanceof Promise)) return send(attempt, connection, known)
  return known.then((settings) => send(attempt, connection, settings), release)
}

const send = (attempt: Attempt, connection: Connection, settings: RoleSettings): Promise<TransactionResult> => {
  const { runner, exchange, context } = attempt
  const { answerMemory, connections, marks, running, runOnConnection } = runner
  // The connection was lost before anything was sent.
  if (connection.client.connection.stream.destroyed) {
    releaseConnection(connections, connection, true)
    return begin({ ...attempt, until: null })
  }
  const timeline = context?.timeline ?? null
  if (timeline !== null) timeline.acquired = performance.now()
  return new Promise((resolve, reject) => {
    const run: Running = { attempt, connection, resolve, ending: null, readerTimeout: null, tracked: null, stops: [] }
    const grow: Grow | null =
      answerMemory && ((bytes, decided) => (run.tracked ??= answerMemory.track(exchange, context)).grow(bytes, decided))
    run.stops = [startClock(run), running.add(run)]
    // A writing exchange continues until its deadline: it may be about to commit.
    if (context !== undefined && exchange.readOnly) context.onAbort = () => endRun(run, 'gone')
    if (context !== undefined) context.sent = true
    try {
      runOnConnection(connection, exchange, settings, marks.newest(), (result) => settle(run, result), grow)
    } catch (error) {
      stop(run)
      releaseAfterCancel(run, true)
      reject(error)
    }
  })
}

/** Cancels an exchange at its deadline, or closes the connection of a server that does not answer our own. */
const startClock = (run: Running): (() => void) => {
  const { runner, exchange, context } = run.attempt
  const { setDeadline, timeout } = runner
  const deadline = context?.deadline ?? Infinity
  if (deadline !== Infinity) return setDeadline(deadline - performance.now(), () => endRun(run, 'deadline'))
  const limit = timeout === 0 ? Infinity : Math.max(1, exchange.statements.length) * timeout + answerGrace
  if (limit === Infinity) return () => undefined
  return setDeadline(limit, () => void run.connection.client.connection.stream.destroy())
}

const endRun = (run: Running, cause: EndCause): void => {
  const { runner, exchange } = run.attempt
  if (run.ending !== null) return
  runner.ended[cause] += 1
  run.ending = { cause, done: runner.cancellations.end(run.connection, cause) }
  if (exchange.readOnly) run.readerTimeout = setTimeout(() => run.resolve(endedUnanswered(cause)), readersWaitMs)
}

const settle = (run: Running, result: TransactionResult): void => {
  const { runner, exchange, context } = run.attempt
  stop(run)
  const destroy = result.kind === 'failed' && mustDestroy(exchange, result)
  const timeline = context?.timeline ?? null
  if (timeline !== null) timeline.answered = performance.now()
  if (result.kind !== 'failed' || !result.broken) runner.answeredAt = performance.now()
  if (exchange.version !== null && result.kind === 'rows') runner.marks.refreshIfDue()
  if (result.kind === 'outdated' && result.by === 'mark') runner.marks.invalidate()
  if (exchange.leaves?.session === true && !destroy)
    cleanUpSession(run.connection, (failed) => releaseAfterCancel(run, failed))
  else releaseAfterCancel(run, destroy)
  run.resolve(run.ending === null ? result : endedBy(run.ending.cause, exchange, result))
}

const stop = (run: Running): void => {
  const { runner, exchange, context } = run.attempt
  for (const each of run.stops) each()
  if (run.readerTimeout !== null) clearTimeout(run.readerTimeout)
  if (run.tracked !== null) run.tracked.end()
  else if (runner.answerMemory !== null && runner.answerMemory.large.count > 0)
    runner.answerMemory.onSmallAnswer(exchange, context)
  if (context !== undefined) context.onAbort = null
}

/** Releases the connection, once no cancellation of it is in flight. */
const releaseAfterCancel = ({ attempt, connection, ending }: Running, destroy: boolean): void => {
  const { connections } = attempt.runner
  if (ending !== null) void ending.done.then(() => releaseConnection(connections, connection, destroy))
  else releaseConnection(connections, connection, destroy)
}

const deadlockDetected = '40P01'

/**
 * A prepared name that Postgres forgot, or that our books lack, is the connection's fault and not the request's.
 * Nothing was kept, so the exchange runs once more on another connection. A reading exchange whose connection died, or that
 * Postgres ended because of a deadlock, runs again as well; of a writing one it is unknown whether Postgres committed.
 */
const isRetryable = (exchange: Exchange, result: TransactionResult): boolean => {
  if (result.kind !== 'failed' || result.error instanceof DatabaseFailure) return false
  if (result.broken || sqlstateOf(result.error) === deadlockDetected) return exchange.readOnly
  return isSuspect(exchange, result.error)
}

/** Fails where the schema is not that of the exchange, or its role not to be had. */
const check = async (
  once: RunOnce,
  { caller, version }: Exchange,
  context: RequestContext | undefined,
): Promise<void> => {
  const alone: Exchange = { caller, version, readOnly: true, statements: [] }
  outcome(alone, await once(alone, context))
}

/** @param replays the server is a standby */
export const runWith = (once: RunOnce, replays: boolean): RunExchange => {
  const run: RunExchange = async (exchange, context) => {
    let result = await once(exchange, context)
    for (let n = 1; result.kind === 'failed' && n < retries.exchange.attempts; n += 1) {
      if (!isRetryable(exchange, result)) break
      result = await once(exchange, context)
    }
    if (isUnchecked(exchange, result) && !isEnded(result)) await check(once, exchange, context)
    return outcome(exchange, result)
  }
  const runApart = checkingApart(run, replays)
  return (exchange, context) => (exchange.distributed === true ? runApart : run)(exchange, context)
}

const isEnded = (result: TransactionResult): boolean =>
  result.kind === 'failed' && result.error instanceof DatabaseFailure
