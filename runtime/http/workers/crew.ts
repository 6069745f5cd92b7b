import type { Revision, RevisionSource } from '../../contract/artifact.ts'
import { within } from '../../lib/timers.ts'
import { changeBetween, changeToTravel } from './change.ts'
import { toTravel, type Asked, type ToWorker, type TravellingWrite, type WorkerRequest } from './worker-messages.ts'
import { hire, type WorkerProcess } from './worker-process.ts'

export interface Services {
  readonly source: RevisionSource
  /** How long a worker without contact may answer from replicas, in milliseconds. */
  readonly replicaMaxStalenessMs: number
  readonly sumMetrics: (values: readonly unknown[]) => Promise<string>
}

export interface Crew {
  readonly alive: ReadonlySet<WorkerProcess>
  readonly start: (number: number) => WorkerProcess
  readonly metrics: () => Promise<string>
}

interface Written {
  readonly before: Revision | null
  readonly now: Revision
  readonly change: Uint8Array
}

/** The time limit of a worker's report. */
const reportMs = 5_000

export function createCrew({ source, replicaMaxStalenessMs, sumMetrics }: Services): Crew {
  const alive = new Set<WorkerProcess>()
  const others = (place: WorkerProcess): readonly WorkerProcess[] => [...alive].filter((other) => other !== place)
  /** The reports of serving workers, without those that end or are silent. */
  const reportsOf = async <T>(ask: (place: WorkerProcess) => Promise<T>): Promise<readonly T[]> => {
    const asked = [...alive].filter(({ hasServed }) => hasServed).map((place) => inTime(ask(place)))
    return (await Promise.all(asked)).flat()
  }
  const metrics = async (): Promise<string> => sumMetrics(await reportsOf((place) => place.metrics()))

  /**
   * A worker that does not receive yet must look at the primary before it uses replicas. One that is silent for longer
   * has no replica that is fresh enough.
   */
  const shareWrite = async (place: WorkerProcess, write: TravellingWrite): Promise<void> => {
    const heard = others(place)
      .filter(({ hears }) => hears)
      .map((other) => other.note(write).catch(() => undefined))
    await within(replicaMaxStalenessMs, Promise.all(heard))
  }
  /** Workers with the same base receive the same change, serialized once and kept until all have it. */
  let written: Written | null = null
  const changeFor = (place: WorkerProcess, now: Revision): Uint8Array => {
    const before = place.sent
    if (written?.before !== before || written.now !== now)
      written = { before, now, change: changeToTravel(changeBetween(before, now)) }
    const { change } = written
    place.sent = now
    if ([...alive].every(({ sent }) => sent === now)) written = null
    return change
  }
  const hear = (place: WorkerProcess, request: WorkerRequest): void => {
    switch (request.kind) {
      case 'ask-revision':
        return answerWorker(place, 'revision', request.call, async () => {
          return { kind: 'revision', call: request.call, change: changeFor(place, await source()) }
        })
      case 'ask-metrics':
        return answerWorker(place, 'metrics', request.call, async () => ({
          kind: 'metrics',
          call: request.call,
          text: await metrics(),
        }))
      case 'ask-requests':
        return answerWorker(place, 'requests', request.call, async () => ({
          kind: 'requests',
          call: request.call,
          requests: (await reportsOf((other) => other.requests())).flat(),
        }))
      case 'ask-live':
        return answerWorker(place, 'live', request.call, async () => ({
          kind: 'live',
          call: request.call,
          live: (await reportsOf((other) => other.live())).flat(),
        }))
      case 'taken':
        for (const other of others(place)) other.send(request)
        return
      case 'wrote':
        void shareWrite(place, request.write).then(() => place.send({ kind: 'all-heard', call: request.call }))
        return
    }
  }
  return {
    alive,
    metrics,
    start: (number) => {
      // Workers without a schema leave requests to those with one.
      const place = hire({ number, listensEarly: ![...alive].some(({ listens }) => listens) }, hear)
      alive.add(place)
      void place.exit.then(() => alive.delete(place))
      return place
    },
  }
}

async function inTime<T>(answer: Promise<T>): Promise<readonly T[]> {
  const values = answer.then((value) => [value]).catch(() => [])
  return (await within(reportMs, values)) ? values : []
}

const answerWorker = (place: WorkerProcess, about: Asked, call: number, work: () => Promise<ToWorker>): void =>
  void work()
    .catch((error: unknown): ToWorker => ({ kind: 'failed', about, call, failure: toTravel(error) }))
    .then(place.send)
