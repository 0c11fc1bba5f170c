/*
 * Spans of traces, if TRACES is set. Otherwise each function only does its work, and the library of OpenTelemetry is not loaded.
 */

/** What a span records: ids and counts; never data of the service, never a credential. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

let api: typeof import('@opentelemetry/api') | null = null

/** Sets whether spans are made from now on. They go to the provider that `node --import` has registered. */
export async function setTracing(isOn: boolean): Promise<void> {
  api = isOn ? await import('@opentelemetry/api') : null
}

/** Whether spans are made: jobs carry a trace only then. */
export function isTracing(): boolean {
  return api !== null
}

/** Does work in a span of its own, a child of the current one. An error leaves only its class there: its message may hold data. */
export function withSpan<T>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  if (api === null) return work()
  const { SpanStatusCode, trace } = api
  return trace.getTracer('collab-sync').startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work()
    } catch (error) {
      const type = error instanceof Error ? error.name : typeof error
      span.setStatus({ code: SpanStatusCode.ERROR, message: type })
      span.setAttribute('error.type', type)
      throw error
    } finally {
      span.end()
    }
  })
}

/** Adds attributes to the current span. */
export function describeSpan(attributes: SpanAttributes): void {
  api?.trace.getActiveSpan()?.setAttributes(attributes)
}

/** Does work, and starts what continues after it, outside of any trace: a process lasts longer than one request. */
export function outsideTraces<T>(work: () => T): T {
  return api === null ? work() : api.context.with(api.ROOT_CONTEXT, work)
}
