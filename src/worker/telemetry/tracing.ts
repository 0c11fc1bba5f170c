import { context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Span } from '@opentelemetry/api'
import type { Spans } from '../../base/trace.ts'

/** Spans by OpenTelemetry's API: they go to whatever provider `node --import` has registered there. */
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
  outside: (work) => context.with(ROOT_CONTEXT, work),
}

/** What spans of our own are found under. */
const TRACER = 'collab-sync'

/** The class alone: a message may hold what the service said. */
function fail(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error
  span.setStatus({ code: SpanStatusCode.ERROR, message: name })
  span.setAttribute('error.type', name)
}
