import cluster from 'node:cluster'
import { once } from 'node:events'
import type { KeptRequest, LiveObservation, OwnObservations } from '../../contract/observations.ts'
import type { Revision } from '../../contract/artifact.ts'
import {
  createCalls,
  type FromWorker,
  type ToWorker,
  type WriteMessage,
  type WorkerRequest,
} from './worker-messages.ts'

export interface WorkerPlace {
  /** From 1 on; a successor has the number of its predecessor. */
  readonly number: number
  /** Whether it listens before it has a schema: no other process would report that the service is not ready. */
  readonly listensEarly: boolean
}

/** A worker process, for the primary (Node manual, cluster). Its observations reject if it ends first. */
export interface WorkerProcess extends OwnObservations {
  /** From 1 on; a successor has the number of its predecessor. */
  readonly number: number
  readonly send: (message: ToWorker) => void
  /** Resolves when it has received another worker's write; rejects if it ends first. */
  readonly note: (write: WriteMessage) => Promise<undefined>
  readonly kill: () => void
  /** Resolves when its address is open. */
  readonly listening: Promise<void>
  /** Resolves with its address when it also has its first schema. */
  readonly serving: Promise<string>
  readonly exit: Promise<Exit>
  sent: Revision | null
  /** It has sent a request. Earlier messages may be lost; later ones arrive before it serves. */
  hears: boolean
  listens: boolean
  hasServed: boolean
  /** The worker that takes its place, so that its end is expected. */
  successor: WorkerProcess | null
}

export interface Exit {
  readonly code: number
  readonly signal: string | null
}

/**
 * Starts a process with the arguments of this one. Workers accept connections themselves: connections that the primary
 * accepts for a dying worker would never be answered.
 */
export function forkWorker(
  { number, listensEarly }: WorkerPlace,
  hear: (place: WorkerProcess, request: WorkerRequest) => void,
): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // Bytes are sent unchanged (Node manual, child_process, advanced serialization).
  cluster.setupPrimary({ serialization: 'advanced' })
  const worker = cluster.fork({ [numberVariable]: String(number), [earlyVariable]: listensEarly ? '1' : '' })
  let serve: (url: string) => void = () => undefined
  const serving = new Promise<string>((resolve) => (serve = resolve))
  const calls = {
    metrics: createCalls<unknown>(),
    requests: createCalls<readonly KeptRequest[]>(),
    live: createCalls<readonly LiveObservation[]>(),
    note: createCalls<undefined>(),
  }
  const send = (message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message, () => undefined)
  }
  const place: WorkerProcess = {
    number,
    send,
    metrics: () => calls.metrics.ask((call) => send({ kind: 'get-metrics', call })),
    requests: () => calls.requests.ask((call) => send({ kind: 'get-requests', call })),
    live: () => calls.live.ask((call) => send({ kind: 'get-live', call })),
    note: (write) => calls.note.ask((call) => send({ kind: 'wrote', call, write })),
    kill: () => void worker.process.kill('SIGKILL'),
    listening: once(worker, 'listening').then(() => undefined),
    serving,
    exit: once(worker, 'exit').then(([code, signal]) => ({
      code: typeof code === 'number' ? code : 1,
      signal: typeof signal === 'string' ? signal : null,
    })),
    sent: null,
    hears: false,
    listens: false,
    hasServed: false,
    successor: null,
  }
  worker.once('listening', () => (place.listens = true))
  worker.on('message', (message: FromWorker) => {
    switch (message.kind) {
      case 'ready':
        place.hasServed = true
        return serve(message.url)
      case 'metrics':
        return calls.metrics.answered(message.call, message.values)
      case 'requests':
        return calls.requests.answered(message.call, message.requests)
      case 'live':
        return calls.live.answered(message.call, message.live)
      case 'heard':
        return calls.note.answered(message.call, undefined)
      case 'ask-revision':
      case 'ask-later':
      case 'ask-metrics':
      case 'ask-requests':
      case 'ask-live':
      case 'taken':
      case 'wrote':
        place.hears = true
        return hear(place, message)
      default:
        // A message of another library.
        return
    }
  })
  worker.once('exit', () => {
    for (const asked of Object.values(calls)) asked.giveUp(new Error(`Worker ${number} has ended.`))
  })
  return place
}

const numberVariable = 'WORKER_NUMBER'
const earlyVariable = 'WORKER_LISTENS_EARLY'

/** The place of this worker; null if this process is not a worker. */
export const workerPlace = (environment: Readonly<Record<string, string | undefined>>): WorkerPlace | null =>
  cluster.isWorker
    ? { number: Number(environment[numberVariable] ?? 1), listensEarly: environment[earlyVariable] === '1' }
    : null
