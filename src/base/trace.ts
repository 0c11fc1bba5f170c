/**
 * Spans of traces, as everybody sees them who does work that is worth one. Until somebody hears them
 * (`src/worker/telemetry/tracing.ts`), each of these functions does its work and nothing else, and no library is loaded for them.
 */

/** What a span says of itself: ids and counts; never what the service said, never a credential. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** What makes the spans. */
export interface Spans {
  withSpan<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  describe(attributes: SpanAttributes): void
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

/** Does work, and starts what goes on after it, outside of any trace: a process is longer than what it is asked for. */
export function outsideTraces<T>(work: () => T): T {
  return spans === null ? work() : spans.outside(work)
}
