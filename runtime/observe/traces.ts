import type { ObserveRequest } from '../graphql/http/observed.ts'
import { phasesOf } from '../contract/timeline.ts'

/**
 * A span for each GraphQL request and one for each of its phases, by the API of OpenTelemetry: whoever loads its SDK into the
 * process (NODE_OPTIONS=--import ...) gets them, and without one nothing is made. The span hangs on the `traceparent` that the
 * client sent (W3C Trace Context).
 */
export async function createTraces(): Promise<ObserveRequest> {
  const { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer = trace.getTracer('catalograph')
  // Milliseconds since 1970.
  const time = (at: number): number => performance.timeOrigin + at
  return ({ operation: nameOf, role, outcome, timeline, done, traceparent }) => {
    const operation = nameOf()
    const parent = traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent })
    const attributes = {
      'graphql.operation.name': operation,
      'catalograph.role': role,
      'catalograph.outcome': outcome,
    }
    const startTime = time(timeline.arrived)
    const span = tracer.startSpan(`graphql ${operation}`, { kind: SpanKind.SERVER, startTime, attributes }, parent)
    // Most traces are not sampled, and their parts would be made for nothing.
    if (!span.isRecording()) return span.end()
    const within = trace.setSpan(parent, span)
    for (const [phase, begin, end] of phasesOf(timeline)) {
      const kind = phase === 'database' ? SpanKind.CLIENT : SpanKind.INTERNAL
      tracer.startSpan(phase, { kind, startTime: time(begin) }, within).end(time(end))
    }
    if (outcome !== 'ok' && outcome !== 'invalid') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(time(done))
  }
}
