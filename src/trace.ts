/**
 * Spans of traces, as everybody sees them who does work that is worth one. Until somebody hears them
 * (`src/telemetry/tracing.ts`), each of these functions does its work and nothing else, and no library is loaded for them.
 */

/** What a span says of itself: ids and counts; never what the service said, never a credential. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** What makes the spans. */
export interface Spans {
  withSpan<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  describe(attributes: SpanAttributes): void
  traceparent(): string | null
  inTraceOf<T>(traceparent: string, work: () => T): T
  outside<T>(work: () => T): T
}

let spans: Spans | null = null

/** From here on spans are made; null ends that. */
export function makeSpansBy(maker: Spans | null): void {
  spans = maker
}

/** Whether spans are made: jobs carry a trace only then. */
export function isTracing(): boolean {
  return spans !== null
}

/** Does work in a span of its own, a child of the one around it. */
export function withSpan<T>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return spans === null ? work() : spans.withSpan(name, attributes, work)
}

/** Says more of the span around this. */
export function describeSpan(attributes: SpanAttributes): void {
  spans?.describe(attributes)
}

/** The span around this in W3C's form `traceparent`, for work that goes on elsewhere; null where there is none. */
export function currentTraceparent(): string | null {
  return spans === null ? null : spans.traceparent()
}

/** Does work as a part of the trace that was left somewhere; where it is in that trace already, just where it is. */
export function inTraceOf<T>(traceparent: string | null, work: () => T): T {
  return spans === null || traceparent === null ? work() : spans.inTraceOf(traceparent, work)
}

/** Does work, and starts what goes on after it, outside of any trace: a process is longer than what it is asked for. */
export function outsideTraces<T>(work: () => T): T {
  return spans === null ? work() : spans.outside(work)
}
