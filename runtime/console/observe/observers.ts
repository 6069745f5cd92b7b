import type { KeptRequest, LiveObservation, SharedObservations } from '../../contract/observations.ts'
import { documentHash, operationNameOf, type ObserveRequest, type TraceRequest } from '../../graphql/http/observed.ts'
import type { Log } from '../../settings/log/events.ts'
import type { Settings } from '../../settings/keys.ts'
import { createMetrics, type HttpObservation, type Metrics } from './metrics.ts'
import type { MetricsSources } from './read-metrics.ts'
import { createRequestLog, phaseTimesOf, tookMs } from './request-log.ts'
import { createTraces } from './traces.ts'

export interface Observers {
  readonly request: ObserveRequest
  /** The slow and failed ones that all workers keep. */
  readonly requests: SharedObservations['requests']
  /** The live queries of each worker. */
  readonly live: SharedObservations['live']
  /** Null: no tracing. */
  readonly trace: TraceRequest | null
  readonly http: ((request: HttpObservation) => void) | null
  readonly log: Log
  readonly metrics: Metrics | null
}

const logSlow =
  (log: Log): ObserveRequest =>
  (observed) => {
    const { requestId, asked, role } = observed
    const [ms, phases] = [Math.round(tookMs(observed)), phaseTimesOf(observed)]
    log({
      kind: 'slow-request',
      requestId,
      operation: operationNameOf(asked),
      role,
      ms,
      phases,
      hash: documentHash(asked),
    })
  }

const observeBoth =
  (one: ObserveRequest, other: ObserveRequest): ObserveRequest =>
  (observed) => {
    one(observed)
    other(observed)
  }

export async function openObservers(
  settings: Settings,
  sources: MetricsSources,
  log: Log,
  shared?: SharedObservations,
): Promise<Observers> {
  const own = settings.metrics === null ? null : await createMetrics(sources)
  const metrics = own === null || shared === undefined ? own : { ...own, text: shared.metrics }
  const { watch: keep, kept } = createRequestLog(settings.slowRequestMs, logSlow(log))
  const requests = (): Promise<readonly KeptRequest[]> => Promise.resolve(kept())
  const live = async (): Promise<readonly LiveObservation[]> => [sources.live()]
  shared?.show({ metrics: own?.values ?? (() => Promise.resolve([])), requests, live })
  const logged: Log =
    metrics === null
      ? log
      : (event) => {
          metrics.event(event)
          log(event)
        }
  return {
    request: metrics === null ? keep : observeBoth(keep, metrics.request),
    requests: shared?.requests ?? requests,
    live: shared?.live ?? live,
    trace: settings.tracing === 0 ? null : await createTraces(settings.tracing),
    http: metrics?.http ?? null,
    log: logged,
    metrics,
  }
}
