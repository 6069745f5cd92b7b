import { phasesOf, type Phase } from '../contract/timeline.ts'
import type { ObservedRequest, ObserveRequest } from '../graphql/http/observed.ts'
import type { GraphqlOutcome } from '../graphql/protocol/types.ts'
import { withoutValues } from './without-values.ts'

/** The last slow and the last failed GraphQL requests of this process, for its owner: no variables, rows or messages. */
export interface RequestLog {
  readonly watch: ObserveRequest
  /** Newest first. */
  readonly requests: () => readonly KeptRequest[]
  /** The document of one of them by its hash, without the values in it; null: it is not kept, or cannot be parsed. */
  readonly document: (hash: string) => string | null
}

export interface KeptRequest {
  readonly requestId: string
  /** Milliseconds since 1970 at which it was answered. */
  readonly at: number
  readonly operation: string
  readonly role: string
  readonly outcome: GraphqlOutcome
  /** Of its first error; null: it has data, and was slow. */
  readonly code: string | null
  /** Milliseconds from its arrival to its answer. */
  readonly ms: number
  readonly phases: PhaseTimes
  /** SHA-256 of the document. */
  readonly hash: string
  readonly hasDocument: boolean
}

/** Milliseconds of each phase that a request went through. */
export type PhaseTimes = Readonly<Partial<Record<Phase, number>>>

/** Of each kind: requests that fail by the thousand displace no slow one. */
const mostOfKind = 100

/** Characters; longer documents are not kept. */
const longestDocument = 8_192

/** Clients send names of operations of any length. */
const longestName = 100

interface Entry {
  readonly request: KeptRequest
  readonly document: string | null
}

export const tookMs = ({ done, timeline }: ObservedRequest): number => done - timeline.arrived

export const phaseTimesOf = ({ timeline }: ObservedRequest): PhaseTimes =>
  Object.fromEntries(phasesOf(timeline).map(([phase, begin, end]) => [phase, Math.round(end - begin)]))

/** @param slowMs what takes as long is slow; 0: nothing is */
export function createRequestLog(slowMs: number): RequestLog {
  const slow: Entry[] = []
  const failed: Entry[] = []
  const entries = (): readonly Entry[] => [...slow, ...failed]
  return {
    watch: (observed) => {
      if (observed.outcome !== 'ok') keep(failed, observed)
      else if (slowMs !== 0 && tookMs(observed) >= slowMs) keep(slow, observed)
    },
    requests: () =>
      entries()
        .map(({ request }) => request)
        .sort((a, b) => b.at - a.at),
    document: (hash) => {
      const text = entries().find(({ request }) => request.hash === hash)?.document ?? null
      return text === null ? null : withoutValues(text)
    },
  }
}

function keep(entries: Entry[], observed: ObservedRequest): void {
  entries.push(entryOf(observed))
  if (entries.length > mostOfKind) entries.shift()
}

function entryOf(observed: ObservedRequest): Entry {
  const { requestId, operation, role, outcome, code, done, hash } = observed
  const text = observed.document()
  const document = text !== null && text.length <= longestDocument ? text : null
  const request = {
    requestId,
    at: performance.timeOrigin + done,
    operation: operation().slice(0, longestName),
    role,
    outcome,
    code,
    ms: Math.round(tookMs(observed)),
    phases: phaseTimesOf(observed),
    hash: hash(),
    hasDocument: document !== null,
  }
  return { request, document }
}
