import type { Exchange, RequestContext, RunExchange } from '../../contract/execution.ts'
import { createBag } from '../../lib/bag.ts'
import { createDeadlines } from '../../lib/deadlines.ts'
import { retries } from '../../lib/retry.ts'
import type { EndCause, Endings } from './cancel.ts'
import { spoilsConnection, sqlstateOf } from '../failures/classify.ts'
import { noRoom, type Grow, type Connection } from '../wire/exchange.ts'
import { DatabaseFailure } from '../failures/failures.ts'
import { checkingApart } from '../check/distributed.ts'
import type { ConnectionPool } from './connections.ts'
import type { SchemaMarks } from '../check/schema-marks.ts'
import type { RoleSettings, RoleSettingsReader } from '../check/role-settings.ts'
import { patienceMs, type Growing, type Room } from './room.ts'
import { takeBack } from '../check/block.ts'
import { isUnchecked, outcome, type RunOnConnection, type TransactionResult } from '../check/transaction.ts'
import { notLent, refuseEnded } from './waiting.ts'

/** How an exchange runs: on a connection that it borrows, until it ends or is ended, and again where that is of use. */

/** Runs an exchange on a connection, which is free for others by the time that nothing of it is under way any more. */
export type RunOnce = (exchange: Exchange, context: RequestContext | undefined) => Promise<TransactionResult>

export interface Runner {
  readonly run: RunOnce
  /** Ends everything that runs. */
  readonly endAll: (cause: EndCause) => void
  readonly answeredAt: () => number
  /** How many requests were ended in Postgres, by cause. */
  readonly ended: () => Readonly<Record<EndCause, number>>
}

export interface RunnerParts {
  readonly connections: ConnectionPool
  readonly marks: SchemaMarks
  readonly endings: Endings
  readonly settings: RoleSettingsReader
  readonly runOnConnection: RunOnConnection
  /** Null: the memory of answers is not counted. */
  readonly room: Room | null
  /** Milliseconds that Postgres gives a statement; 0: it gives it any. */
  readonly timeout: number
}

/** What our own exchange may take beyond its statements' time limits before the connection counts as dead. */
const answerGrace = 5_000

/** How much later than it says a deadline may pass. */
const lookEveryMs = 50

/**
 * How long who reads waits for Postgres to end it, in milliseconds: a function may catch its cancellation, and a pooler that has
 * too much to do hands it on seconds later. What writes waits until it is known whether it was kept.
 */
const readersWaitMs = 500

const timeLimitOf = (exchange: Exchange, timeout: number): number =>
  timeout === 0 ? Infinity : Math.max(1, exchange.statements.length) * timeout + answerGrace

/** A writing request may meet a read-only default that was left behind; in a reading one it is the request that is at fault. */
const isSuspect = (exchange: Exchange, error: unknown): boolean =>
  spoilsConnection(error) && !(exchange.readOnly && sqlstateOf(error) === '25006')

/** True when the connection must not serve another request. */
export const isSpoilt = (exchange: Exchange, result: TransactionResult): boolean =>
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
  return isOurs ? { ...result, error: notLent(cause) } : result
}

/** Of a request that did not begin, or that reads and whose connection is still being ended. */
export const unended = (cause: EndCause): TransactionResult => ({
  kind: 'failed',
  error: notLent(cause),
  begun: 0,
  completed: 0,
  broken: false,
})

export const createRunner = ({
  connections,
  marks,
  endings,
  settings,
  runOnConnection,
  room,
  timeout,
}: RunnerParts): Runner => {
  const setDeadline = createDeadlines(lookEveryMs)
  const running = createBag<(cause: EndCause) => void>()
  const ended: Record<EndCause, number> = { gone: 0, deadline: 0, stopping: 0 }
  let answeredAt = -Infinity

  const runOn = (
    connection: Connection,
    roleSettings: RoleSettings,
    exchange: Exchange,
    context: RequestContext | undefined,
  ): Promise<TransactionResult> =>
    new Promise((resolve, reject) => {
      let ending: { readonly cause: EndCause; readonly done: Promise<void> } | null = null
      let leaving: NodeJS.Timeout | null = null
      const end = (cause: EndCause): void => {
        if (ending !== null) return
        ended[cause] += 1
        ending = { cause, done: endings.end(connection, cause) }
        if (exchange.readOnly) leaving = setTimeout(() => resolve(unended(cause)), readersWaitMs)
      }
      let growing: Growing | null = null
      const grow: Grow | null = room && ((bytes, told) => (growing ??= room.open(exchange, context)).grow(bytes, told))
      const giveBack = (spoilt: boolean): void => {
        if (ending !== null) void ending.done.then(() => connections.giveBack(connection, spoilt))
        else connections.giveBack(connection, spoilt)
      }
      const clear = startClock(connection, exchange, context, end)
      const stopped = running.add(end)
      const stop = (): void => {
        clear()
        if (leaving !== null) clearTimeout(leaving)
        stopped()
        if (growing !== null) growing.end()
        else if (room !== null && room.large.count > 0) room.stayedSmall(exchange, context)
        if (context !== undefined) context.onGone = null
      }
      const settle = (result: TransactionResult): void => {
        stop()
        const spoilt = result.kind === 'failed' && isSpoilt(exchange, result)
        const timeline = context?.timeline ?? null
        if (timeline !== null) timeline.answered = performance.now()
        if (result.kind !== 'failed' || !result.broken) answeredAt = performance.now()
        if (exchange.version !== null && result.kind === 'rows') marks.tend()
        // Whether the schema has changed as well, a source of revisions finds out.
        if (result.kind === 'outdated') marks.forget()
        if (exchange.leaves?.session === true && !spoilt) takeBack(connection, giveBack)
        else giveBack(spoilt)
        resolve(ending === null ? result : endedBy(ending.cause, exchange, result))
      }
      // What writes is left to its deadline: it may be about to commit.
      if (context !== undefined && exchange.readOnly) context.onGone = () => end('gone')
      try {
        runOnConnection(connection, exchange, roleSettings, marks.newest(), settle, grow)
      } catch (error) {
        stop()
        giveBack(true)
        reject(error)
      }
    })
  /** Ends an exchange at its request's deadline, or gives up a server that does not answer our own at all. */
  const startClock = (
    connection: Connection,
    exchange: Exchange,
    context: RequestContext | undefined,
    end: (cause: EndCause) => void,
  ): (() => void) => {
    const deadline = context?.deadline ?? Infinity
    if (deadline !== Infinity) return setDeadline(deadline - performance.now(), () => end('deadline'))
    const limit = timeLimitOf(exchange, timeout)
    if (limit === Infinity) return () => undefined
    return setDeadline(limit, () => void connection.client.connection.stream.destroy())
  }
  const lent = async (
    connection: Connection,
    exchange: Exchange,
    context: RequestContext | undefined,
  ): Promise<TransactionResult> => {
    let roleSettings: RoleSettings
    try {
      // Also of one that did not wait: its document may have taken long.
      if (context !== undefined && (context.gone || performance.now() >= context.deadline)) refuseEnded(context)
      const known = settings.of(exchange.caller.role)
      roleSettings = known instanceof Promise ? await known : known
    } catch (error) {
      connections.giveBack(connection, false)
      throw error
    }
    // It ended meanwhile, before anything was sent.
    if (connection.client.connection.stream.destroyed) {
      connections.giveBack(connection, true)
      return begin(exchange, context, null)
    }
    const timeline = context?.timeline ?? null
    if (timeline !== null) timeline.lent = performance.now()
    return runOn(connection, roleSettings, exchange, context)
  }
  const begin = async (
    exchange: Exchange,
    context: RequestContext | undefined,
    until: number | null,
  ): Promise<TransactionResult> => {
    // Most of the time no answer is large enough to be counted.
    if (room !== null && room.usage.bytes > 0 && !room.isThere(exchange, context))
      return waitForRoom(room, exchange, context, until)
    const found = connections.borrow(context)
    const connection = found instanceof Promise ? await found : found
    if (room === null || room.usage.bytes === 0 || room.isThere(exchange, context))
      return lent(connection, exchange, context)
    connections.giveBack(connection, false)
    return waitForRoom(room, exchange, context, until)
  }
  const waitForRoom = async (
    room: Room,
    exchange: Exchange,
    context: RequestContext | undefined,
    until: number | null,
  ): Promise<TransactionResult> => {
    const end = until ?? Math.min(performance.now() + patienceMs, context?.deadline ?? Infinity)
    const found = await room.wait(exchange, context, end - performance.now())
    refuseEnded(context)
    if (!found) throw noRoom()
    return begin(exchange, context, end)
  }
  return {
    run: (exchange, context) => begin(exchange, context, null),
    endAll: (cause) => {
      for (const end of running.all()) end(cause)
    },
    answeredAt: () => answeredAt,
    ended: () => ended,
  }
}

/**
 * A prepared name that Postgres forgot, or that our books lack, is the connection's fault and not the request's.
 * Nothing was kept, so the exchange runs once more on another connection. A reading exchange whose connection died runs
 * again as well; of a writing one it is unknown whether Postgres committed.
 */
const deservesAnother = (exchange: Exchange, result: TransactionResult): boolean => {
  if (result.kind !== 'failed' || result.error instanceof DatabaseFailure) return false
  return result.broken ? exchange.readOnly : isSuspect(exchange, result.error)
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

/** @param replays the server replays another one's changes */
export const runWith = (once: RunOnce, replays: boolean): RunExchange => {
  const run: RunExchange = async (exchange, context) => {
    let result = await once(exchange, context)
    for (let n = 1; result.kind === 'failed' && n < retries.exchange.attempts; n += 1) {
      if (!deservesAnother(exchange, result)) break
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
