import type { RequestContext } from '../../contract/execution.ts'
import { createFairQueue, type QueueLimits } from '../../lib/sharing/fair-queue.ts'
import type { Places } from '../../lib/sharing/places.ts'
import { createDeadlines } from '../../lib/timers.ts'
import type { Connection } from '../wire/exchange.ts'
import { DatabaseFailure, type DatabaseFailureKind } from '../failures/failures.ts'

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
  readonly sharer: RequestContext | undefined
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

/** A request beyond these is refused immediately. */
const limits: QueueLimits = { each: 200, all: 2_000 }

/** The precision of time limits, in milliseconds. */
const deadlineCheckMs = 50

export const createWaiting = (places: Places, patienceMs: number): Waiting => {
  const queue = createFairQueue<Waiter>(places, limits)
  const setDeadline = createDeadlines(deadlineCheckMs)
  const wait = (context: RequestContext | undefined): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const left = (context?.deadline ?? Infinity) - performance.now()
      const late: RefusalKind = left < patienceMs ? 'deadline' : 'overloaded'
      const cancelDeadline = setDeadline(Math.min(left, patienceMs), () => waiter.onRefused(late))
      const end = (): void => {
        queue.remove(waiter)
        cancelDeadline()
        if (context !== undefined) context.onAbort = null
      }
      const waiter: Waiter = {
        sharer: context,
        onGranted: (connection) => {
          end()
          resolve(connection)
        },
        onRefused: (kind) => {
          end()
          reject(refusedConnection(kind))
        },
      }
      if (!queue.add(waiter)) return waiter.onRefused('overloaded')
      if (context !== undefined) context.onAbort = () => waiter.onRefused('gone')
    })
  return {
    wait,
    next: queue.next,
    queued: queue.waiting,
    refuseAll: (kind) => {
      for (const waiter of queue.all()) waiter.onRefused(kind)
    },
  }
}
