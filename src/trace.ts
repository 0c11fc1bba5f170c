import { ROOT_CONTEXT, SpanStatusCode, context, propagation, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'

/**
 * Spans of traces. Where nothing is registered to hear them (`src/signals/tracing.ts`, or the tracing of a program that
 * uses collab-sync), each of these functions does its work and nothing else.
 */

/** Whether spans go anywhere: jobs carry a trace only then. */
export function isTracing(): boolean {
  return propagation.fields().length > 0
}

/**
 * Does work in a span of its own, a child of the one around it.
 * @param attributes ids and counts; never what the service said, never a credential
 */
export async function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
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
}

/** Says more of the span around this. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes)
}

/** The span around this in W3C's `traceparent` form, for a work that goes on elsewhere; null where there is none. */
export function currentTraceparent(): string | null {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  return carrier['traceparent'] ?? null
}

/** Does work as a part of the trace that was left somewhere; where it is in that trace already, just where it is. */
export function inTraceOf<T>(traceparent: string | null, work: () => T): T {
  return context.with(continued(traceparent), work)
}

/** Does work, and starts what goes on after it, outside of any trace: a process is longer than what it is asked for. */
export function outsideTraces<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work)
}

const TRACER = 'collab-sync'

function continued(traceparent: string | null): Context {
  const active = context.active()
  if (traceparent === null) return active
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
