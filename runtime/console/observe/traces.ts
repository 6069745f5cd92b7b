import { labelOf, type TraceRequest } from '../../graphql/http/observed.ts'
import { phasesOf } from '../../contract/execution.ts'

/**
 * A span for each GraphQL request and one for each of its phases, with the API of OpenTelemetry: a process with its SDK
 * (NODE_OPTIONS=--import ...) gets them, and without one no spans are made. The parent is the `traceparent` that the
 * client sent (W3C Trace Context). Sampling is decided when a request begins, so that an unsampled one costs no more.
 * @param share of the requests, above 0; 1: the sampler of the SDK decides, which creates an object for each request
 * first
 */
export async function createTraces(share: number): Promise<TraceRequest> {
  const { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer = trace.getTracer('catalograph')
  // Milliseconds since 1970.
  const time = (at: number): number => performance.timeOrigin + at
  return ({ arrived, operation: nameOf, role, traceparent }) => {
    if (share < 1 && !(sampledBy(traceparent) ?? Math.random() < share)) return null
    const operation = nameOf()
    const parent = traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent })
    const attributes = { 'graphql.operation.name': operation, 'catalograph.role': role }
    const options = { kind: SpanKind.SERVER, startTime: time(arrived), attributes }
    const span = tracer.startSpan(`graphql ${operation}`, options, parent)
    if (!span.isRecording()) return null
    return {
      label: labelOf(operation, span.spanContext().traceId),
      end: ({ response: { outcome }, timeline, done }) => {
        const within = trace.setSpan(parent, span)
        for (const [phase, begin, end] of phasesOf(timeline)) {
          const kind = phase === 'database' ? SpanKind.CLIENT : SpanKind.INTERNAL
          tracer.startSpan(phase, { kind, startTime: time(begin) }, within).end(time(end))
        }
        span.setAttribute('catalograph.outcome', outcome)
        if (outcome !== 'ok' && outcome !== 'invalid') span.setStatus({ code: SpanStatusCode.ERROR })
        span.end(time(done))
      },
    }
  }
}

/** Whether the client samples this trace (W3C Trace Context, sampled flag); null: no header. */
function sampledBy(traceparent = ''): boolean | null {
  const flags = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-([\da-f]{2})(?:-|$)/.exec(traceparent)?.[1]
  return flags === undefined ? null : Number.parseInt(flags, 16) % 2 === 1
}
