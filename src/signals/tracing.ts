import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { Span } from '@opentelemetry/api'
import pg from 'pg'
import { statementName } from '../database/statement.ts'
import type { Log } from '../log.ts'
import { makeSpansBy } from '../trace.ts'
import { openTelemetrySpans } from './spans.ts'
import { ToldExporter } from './told-exporter.ts'

export interface TracingOptions {
  /** Where spans are posted: the full address. */
  readonly url: string
  readonly serviceName: string
  /** Base address of the service: calls to it are traced, and no others. */
  readonly serviceUrl?: string
  readonly log: Log
}

/** Spans that wait to be sent: a worker at full speed makes some thousand a second. */
const QUEUE_SPANS = 16_384
const BATCH_SPANS = 512
const SEND_AFTER_MS = 1_000
/** A collector that does not answer holds up the end of a command that long, and nothing else. */
const SEND_MS = 2_000

/**
 * Makes traces from here on, and sends them to a collector by OTLP over HTTP (JSON). To be called once in a process,
 * before the queue is opened.
 * @returns a function that sends what waits, and ends
 */
export function startTracing(options: TracingOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ url: options.url, timeoutMillis: SEND_MS })
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': options.serviceName }),
    ),
    spanProcessors: [
      new BatchSpanProcessor(new ToldExporter(exporter, options.log), {
        maxQueueSize: QUEUE_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: SEND_AFTER_MS,
        exportTimeoutMillis: SEND_MS,
      }),
    ],
  })
  provider.register()
  makeSpansBy(openTelemetrySpans)
  tracePostgres()
  traceCalls(options.serviceUrl)
  return async () => {
    makeSpansBy(null)
    // What could not be sent is told already.
    await provider.shutdown().catch(() => {})
  }
}

/**
 * Statements by their names: the text of one may hold data where it is not ours, and its parameters always do.
 * The classes are patched in place, which needs no hook in the loading of modules and so no order of imports.
 */
function tracePostgres(): void {
  const instrumentation = new PgInstrumentation({
    enabled: false,
    requireParentSpan: true,
    requestHook: (span: Span, { query }) => {
      const operation = /^(?:\s|--.*\n)*(\w+)/.exec(query.text)?.[1]?.toLowerCase() ?? 'statement'
      const name = statementName(query.text) ?? operation
      span.updateName(`sql ${name}`)
      span.setAttribute('db.query.text', name)
    },
  })
  const exportsOf: Record<string, unknown> = {
    pg,
    // What `pg` makes its own Pool from.
    'pg-pool': Object.getPrototypeOf(pg.Pool),
  }
  for (const { name, patch } of instrumentation.getModuleDefinitions()) patch?.(exportsOf[name])
}

/** Headers are not captured, so that no credential is; other addresses, such as a webhook's, may be secrets themselves. */
function traceCalls(serviceUrl: string | undefined): void {
  const origin = serviceUrl === undefined ? null : new URL(serviceUrl).origin
  // It listens to what undici tells from here on.
  new UndiciInstrumentation({
    requireParentforSpans: true,
    ignoreRequestHook: (request) => new URL(String(request.origin)).origin !== origin,
    requestHook: (span, request) => void span.updateName(`${request.method} ${request.path}`),
  })
}
