import { context, trace } from '@opentelemetry/api'
import { SpanKind } from 'bullmq'
import type { Span, Telemetry } from 'bullmq'
import { BullMQOtel } from 'bullmq-otel'

/**
 * Makes jobs carry their trace. BullMQ polls for jobs and renews locks all day long: these get a span only within another
 * one.
 */
export function quietTelemetry(): Telemetry {
  const { tracer, contextManager }: Telemetry = new BullMQOtel({ tracerName: 'bullmq' })
  return {
    contextManager,
    tracer: {
      startSpan(name, options, within) {
        const around = within ?? context.active()
        const isHousekeeping = options?.kind === undefined || options.kind === SpanKind.INTERNAL
        if (isHousekeeping && trace.getSpan(around) === undefined) return NO_SPAN
        return tracer.startSpan(name, options, within)
      },
    },
  }
}

const NO_SPAN: Span = {
  setSpanOnContext: (where) => where,
  setAttribute() {},
  setAttributes() {},
  addEvent() {},
  recordException() {},
  end() {},
}
