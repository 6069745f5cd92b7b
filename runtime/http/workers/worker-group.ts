import type { Revision, RevisionSource } from '../../contract/artifact.ts'
import { within } from '../../lib/timers.ts'
import { changeBetween, changeToMessage } from './change.ts'
import { toMessage, type Asked, type ToWorker, type WriteMessage, type WorkerRequest } from './worker-messages.ts'
import { forkWorker, type WorkerProcess } from './worker-process.ts'

export interface Services {
  readonly source: RevisionSource
  /** How long a worker without contact may answer from replicas, in milliseconds. */
  readonly replicaMaxStalenessMs: number
  readonly sumMetrics: (values: readonly unknown[]) => Promise<string>
}

export interface WorkerGroup {
  readonly alive: ReadonlySet<WorkerProcess>
  readonly start: (number: number) => WorkerProcess
  readonly metrics: () => Promise<string>
}

/** The time limit of a worker's report. */
const reportMs = 5_000

export function createWorkerGroup({ source, replicaMaxStalenessMs, sumMetrics }: Services): WorkerGroup {
  const alive = new Set<WorkerProcess>()
  const others = (worker: WorkerProcess): readonly WorkerProcess[] => [...alive].filter((other) => other !== worker)
  /** The reports of serving workers, without those that end or are silent. */
  const reportsOf = async <T>(ask: (worker: WorkerProcess) => Promise<T>): Promise<readonly T[]> => {
    const asked = [...alive].filter(({ hasServed }) => hasServed).map((worker) => inTime(ask(worker)))
    return (await Promise.all(asked)).flat()
  }
  const metrics = async (): Promise<string> => sumMetrics(await reportsOf((worker) => worker.metrics()))

  /**
   * A worker that does not receive yet must look at the primary before it uses replicas. One that is silent for longer
   * has no replica that is fresh enough.
   */
  const shareWrite = async (worker: WorkerProcess, write: WriteMessage): Promise<void> => {
    const heard = others(worker)
      .filter(({ hears }) => hears)
      .map((other) => other.note(write).catch(() => undefined))
    await within(replicaMaxStalenessMs, Promise.all(heard))
  }
  /** Workers with the same base receive the same change, serialized once and kept until all have it. */
  let written: { readonly before: Revision | null; readonly now: Revision; readonly change: Uint8Array } | null = null
  const changeFor = (worker: WorkerProcess, now: Revision): Uint8Array => {
    const before = worker.sent
    if (written?.before !== before || written.now !== now)
      written = { before, now, change: changeToMessage(changeBetween(before, now)) }
    const { change } = written
    worker.sent = now
    if ([...alive].every(({ sent }) => sent === now)) written = null
    return change
  }
  const hear = (worker: WorkerProcess, request: WorkerRequest): void => {
    switch (request.kind) {
      case 'ask-revision':
        return answerWorker(worker, 'revision', request.call, async () => {
          return { kind: 'revision', call: request.call, change: changeFor(worker, await source()) }
        })
      case 'ask-later':
        return answerWorker(worker, 'later', request.call, () => laterFor(worker, request))
      case 'ask-metrics':
        return answerWorker(worker, 'metrics', request.call, async () => ({
          kind: 'metrics',
          call: request.call,
          text: await metrics(),
        }))
      case 'ask-requests':
        return answerWorker(worker, 'requests', request.call, async () => ({
          kind: 'requests',
          call: request.call,
          requests: (await reportsOf((other) => other.requests())).flat(),
        }))
      case 'ask-live':
        return answerWorker(worker, 'live', request.call, async () => ({
          kind: 'live',
          call: request.call,
          live: (await reportsOf((other) => other.live())).flat(),
        }))
      case 'taken':
        for (const other of others(worker)) other.send(request)
        return
      case 'wrote':
        void shareWrite(worker, request.write).then(() => worker.send({ kind: 'all-heard', call: request.call }))
        return
    }
  }
  return {
    alive,
    metrics,
    start: (number) => {
      // Workers without a schema leave requests to those with one.
      const worker = forkWorker({ number, listensEarly: ![...alive].some(({ listens }) => listens) }, hear)
      alive.add(worker)
      void worker.exit.then(() => alive.delete(worker))
      return worker
    },
  }
}

async function inTime<T>(answer: Promise<T>): Promise<readonly T[]> {
  const values = answer.then((value) => [value]).catch(() => [])
  return (await within(reportMs, values)) ? values : []
}

const answerWorker = (worker: WorkerProcess, about: Asked, call: number, work: () => Promise<ToWorker>): void =>
  void work()
    .catch((error: unknown): ToWorker => ({ kind: 'failed', about, call, failure: toMessage(error) }))
    .then(worker.send)

/** Null: the worker has received another revision since, or nothing is known of its state. */
async function laterFor(
  { sent }: WorkerProcess,
  { call, version }: Extract<WorkerRequest, { readonly kind: 'ask-later' }>,
): Promise<ToWorker> {
  const later = sent?.version === version ? await sent.later?.() : null
  return { kind: 'later', call, later: later ?? null }
}
