import { ROOT_CONTEXT, SpanStatusCode, context, propagation, trace } from '@opentelemetry/api'
import type { Context, Span } from '@opentelemetry/api'
import type { Spans } from '../trace.ts'

/** Spans by OpenTelemetry's API: they go to whatever provider is registered there. */
export const openTelemetrySpans: Spans = {
  withSpan(name, attributes, work) {
    return trace.getTracer(TRACER).startActiveSpan(name, { attributes }, async (span) => {
      try {
        return await work()
      } catch (error) {
        fail(span, error)
        throw error
      } finally {
        span.end()
      }
    })
  },
  describe: (attributes) => void trace.getActiveSpan()?.setAttributes(attributes),
  traceparent() {
    const carrier: Record<string, string> = {}
    propagation.inject(context.active(), carrier)
    return carrier['traceparent'] ?? null
  },
  inTraceOf: (traceparent, work) => context.with(continued(traceparent), work),
  outside: (work) => context.with(ROOT_CONTEXT, work),
}

/** What spans of our own are found under. */
export const TRACER = 'collab-sync'

function continued(traceparent: string): Context {
  const active = context.active()
  const there = propagation.extract(ROOT_CONTEXT, { traceparent })
  const traceOf = (where: Context) => trace.getSpanContext(where)?.traceId
  return traceOf(there) === undefined || traceOf(there) === traceOf(active) ? active : there
}

/** The class alone: a message may hold what the service said. */
function fail(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error
  span.setStatus({ code: SpanStatusCode.ERROR, message: name })
  span.setAttribute('error.type', name)
}
