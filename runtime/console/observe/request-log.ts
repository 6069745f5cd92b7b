import type { KeptRequest, PhaseTimes } from '../../contract/observations.ts'
import { phasesOf } from '../../contract/execution.ts'
import {
  documentHash,
  operationNameOf,
  type ObservedRequest,
  type ObserveRequest,
} from '../../graphql/http/observed.ts'

/** The last slow and failed GraphQL requests of this process, for its owner: no variables, rows or messages. */
export interface RequestLog {
  readonly watch: ObserveRequest
  readonly kept: () => readonly KeptRequest[]
}

/** Per kind: failed requests do not displace slow ones. */
const mostOfKind = 100

/** In characters; longer documents are not kept. */
const longestDocument = 8_192

/** Clients send operation names of any length. */
const longestName = 100

export const tookMs = ({ done, timeline }: ObservedRequest): number => done - timeline.arrived

export const phaseTimesOf = ({ timeline }: ObservedRequest): PhaseTimes =>
  Object.fromEntries(phasesOf(timeline).map(([phase, begin, end]) => [phase, Math.round(end - begin)]))

/**
 * @param slowMs the duration from which a request is slow; 0: none is
 * @param noteSlow receives each slow request, also a failed one
 */
export function createRequestLog(slowMs: number, noteSlow: ObserveRequest): RequestLog {
  const slow: KeptRequest[] = []
  const failed: KeptRequest[] = []
  return {
    watch: (observed) => {
      const isOk = observed.response.outcome === 'ok'
      const isSlow = slowMs !== 0 && observed.done - observed.timeline.arrived >= slowMs
      if (isSlow) noteSlow(observed)
      if (!isOk) keepRequest(failed, observed)
      else if (isSlow) keepRequest(slow, observed)
    },
    kept: () => [...slow, ...failed],
  }
}

/** The document of one of them by its hash, without its values; null: it is not kept, or cannot be parsed. */
export async function documentOf(kept: readonly KeptRequest[], wanted: string): Promise<string | null> {
  const text = kept.find(({ hash }) => hash === wanted)?.document ?? null
  if (text === null) return null
  // Rarely used, and requests do not need its parser.
  const { withoutValues } = await import('./without-values.ts')
  return withoutValues(text)
}

function keepRequest(requests: KeptRequest[], observed: ObservedRequest): void {
  requests.push(keptOf(observed))
  if (requests.length > mostOfKind) requests.shift()
}

function keptOf(observed: ObservedRequest): KeptRequest {
  const { requestId, asked, role, response, done } = observed
  const text = asked.query
  return {
    requestId,
    at: performance.timeOrigin + done,
    operation: operationNameOf(asked).slice(0, longestName),
    role,
    outcome: response.outcome,
    code: response.code ?? null,
    ms: Math.round(tookMs(observed)),
    phases: phaseTimesOf(observed),
    hash: documentHash(asked),
    document: text !== null && text.length <= longestDocument ? text : null,
  }
}
