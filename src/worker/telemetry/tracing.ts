import { context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Span } from '@opentelemetry/api'
import type { Spans } from '../../base/trace.ts'

/** Spans by OpenTelemetry's API, for the provider that `node --import` registers. */
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

const TRACER = 'collab-sync'

/** The class only, because a message may contain text of the service. */
function fail(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : typeof error
  span.setStatus({ code: SpanStatusCode.ERROR, message: name })
  span.setAttribute('error.type', name)
}
