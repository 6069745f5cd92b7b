import type { ObserveRequest, TraceRequest } from '../graphql/http/observed.ts'
import type { Log } from '../log/events.ts'
import type { Settings } from '../settings/keys.ts'
import { createMetrics, type HttpObservation, type Metrics } from './metrics.ts'
import type { MetricsSources } from './read-metrics.ts'
import type { Siblings } from '../workers/siblings.ts'
import { createRequestLog, phaseTimesOf, tookMs, type RequestLog } from './request-log.ts'
import { createTraces } from './traces.ts'

/** Each worker shows its own, and tells those of all. */
function shareMetrics(own: Metrics, siblings: Siblings): Metrics {
  siblings.showMetrics(own.values)
  return { ...own, text: siblings.metrics }
}

/** Everybody who watches requests, as the settings say. */
export interface Observers {
  readonly request: ObserveRequest
  readonly requests: RequestLog
  /** Null: no request is traced. */
  readonly trace: TraceRequest | null
  readonly http: ((request: HttpObservation) => void) | null
  readonly log: Log
  readonly metrics: Metrics | null
}

const slowRequests =
  (log: Log, slowMs: number): ObserveRequest =>
  (observed) => {
    const { requestId, operation, role, hash } = observed
    const ms = tookMs(observed)
    if (ms < slowMs) return
    const phases = phaseTimesOf(observed)
    log({ kind: 'slow-request', requestId, operation: operation(), role, ms: Math.round(ms), phases, hash: hash() })
  }

export async function openObservers(
  settings: Settings,
  sources: MetricsSources,
  log: Log,
  siblings?: Siblings,
): Promise<Observers> {
  const own = settings.metrics === null ? null : await createMetrics(sources)
  const metrics = own === null || siblings === undefined ? own : shareMetrics(own, siblings)
  const requests = createRequestLog(settings.slowRequestMs)
  const watchers = [
    requests.watch,
    ...(metrics === null ? [] : [metrics.request]),
    ...(settings.slowRequestMs === 0 ? [] : [slowRequests(log, settings.slowRequestMs)]),
  ]
  const told: Log =
    metrics === null
      ? log
      : (event) => {
          metrics.event(event)
          log(event)
        }
  const request: ObserveRequest = (observed) => {
    for (const watch of watchers) watch(observed)
  }
  return {
    request,
    requests,
    trace: settings.tracing ? await createTraces() : null,
    http: metrics?.http ?? null,
    log: told,
    metrics,
  }
}
