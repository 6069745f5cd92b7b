import type { RequestContext } from '../../contract/execution.ts'
import { createDeadlines } from '../../lib/timers.ts'
import type { Connection } from '../wire/exchange.ts'
import { DatabaseFailure, type DatabaseFailureKind } from '../failures/failures.ts'
import type { Shares } from './shares.ts'

/** The queue for connections: of the parties whose share allows one, the party with the fewest is next. */
export interface Waiting {
  /** Fails with DatabaseFailure: overloaded, deadline, gone or stopping. */
  readonly wait: (context: RequestContext | undefined) => Promise<Connection>
  /** The next request; null: none may be served. */
  readonly next: () => ConnectionRequest | null
  /** The number of waiting requests. */
  readonly queued: { readonly count: number }
  readonly refuseAll: (kind: RefusalKind) => void
}

export interface ConnectionRequest {
  readonly context: RequestContext | undefined
  readonly onGranted: (connection: Connection | Promise<Connection>) => void
}

interface Waiter extends ConnectionRequest {
  readonly onRefused: (kind: RefusalKind) => void
}

type RefusalKind = Extract<DatabaseFailureKind, 'overloaded' | 'deadline' | 'gone' | 'stopping'>

const sentences: Readonly<Record<RefusalKind, string>> = {
  overloaded: 'The service is busy: no database connection became free in time; try again later.',
  deadline: 'The request took longer than is allowed and was given up; nothing was kept.',
  gone: 'The client closed the connection.',
  stopping: 'The service is stopping; nothing was kept. Try again.',
}

/** Also for a request that was cancelled while it ran. */
export const refusedConnection = (kind: RefusalKind): DatabaseFailure =>
  new DatabaseFailure(kind, sentences[kind], null, null)

/** @throws DatabaseFailure for a request that is not to be served any more */
export const refuseEnded = (context: RequestContext | undefined): void => {
  const ended = endOf(context)
  if (ended !== null) throw refusedConnection(ended)
}

const endOf = (context: RequestContext | undefined): 'gone' | 'deadline' | null => {
  if (context === undefined) return null
  if (context.aborted) return 'gone'
  return context.deadline !== Infinity && performance.now() >= context.deadline ? 'deadline' : null
}

/** Waiters of one party, and of all: beyond these numbers a request is refused at once. */
const mostOfParty = 200
const mostOfAll = 2_000

/** The precision of time limits, in milliseconds. */
const deadlineCheckMs = 50

/** Our own statements wait as one party. */
const ownParty = ''

export const createWaiting = (shares: Shares, patienceMs: number): Waiting => {
  // By party, in the order of coming; a party without waiters has no entry.
  const queues = new Map<string, Waiter[]>()
  const setDeadline = createDeadlines(deadlineCheckMs)
  const queued = { count: 0 }
  const partyOf = ({ context }: ConnectionRequest): string => context?.party ?? ownParty
  const remove = (waiter: Waiter): void => {
    const party = partyOf(waiter)
    const queue = queues.get(party)
    const at = queue?.indexOf(waiter) ?? -1
    if (queue === undefined || at === -1) return
    queue.splice(at, 1)
    queued.count -= 1
    if (queue.length === 0) queues.delete(party)
  }
  const add = (waiter: Waiter): void => {
    const party = partyOf(waiter)
    const queue = queues.get(party) ?? []
    if (queued.count >= mostOfAll || queue.length >= mostOfParty) throw refusedConnection('overloaded')
    if (queue.push(waiter) === 1) queues.set(party, queue)
    queued.count += 1
  }
  const wait = (context: RequestContext | undefined): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const left = (context?.deadline ?? Infinity) - performance.now()
      const late: RefusalKind = left < patienceMs ? 'deadline' : 'overloaded'
      const cancelDeadline = setDeadline(Math.min(left, patienceMs), () => waiter.onRefused(late))
      const end = (): void => {
        remove(waiter)
        cancelDeadline()
        if (context !== undefined) context.onAbort = null
      }
      const waiter: Waiter = {
        context,
        onGranted: (connection) => {
          end()
          resolve(connection)
        },
        onRefused: (kind) => {
          end()
          reject(refusedConnection(kind))
        },
      }
      try {
        add(waiter)
      } catch (error) {
        cancelDeadline()
        reject(error)
        return
      }
      if (context !== undefined) context.onAbort = () => waiter.onRefused('gone')
    })
  const next = (): ConnectionRequest | null => {
    let best: Waiter | null = null
    let fewest = Infinity
    for (const [party, queue] of queues) {
      const [first] = queue
      const held = shares.heldBy(party)
      if (first === undefined || held >= fewest || !shares.mayAcquire(first.context)) continue
      best = first
      fewest = held
    }
    return best
  }
  return {
    wait,
    next,
    queued,
    refuseAll: (kind) => {
      for (const queue of [...queues.values()]) for (const waiter of [...queue]) waiter.onRefused(kind)
    },
  }
}
