import { propagation, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'

/**
 * Loaded into a measured server: the SDK as an operator sets it up, which records the server's traces; exports are
 * dropped.
 */
const exporter: SpanExporter = {
  export: (_, done) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
}

trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }))
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
