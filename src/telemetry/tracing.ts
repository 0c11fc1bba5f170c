import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Context, Span } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import pg from 'pg'
import { statementName } from '../database/statement.ts'
import type { Log } from '../log.ts'
import { inTraceOf, makeSpansBy } from '../trace.ts'
import type { Spans } from '../trace.ts'
import { ReportingExporter } from './exporter.ts'

export interface TracingOptions {
  /** Where spans are posted: the full address. */
  readonly url: string
  /** A collector that does not answer holds up the end of a command that long, and nothing else. */
  readonly timeoutMs: number
  readonly serviceName: string
  /** Base address of the service: calls to it are traced, and no others. */
  readonly serviceUrl?: string
  readonly log: Log
}

/** Spans that wait to be sent: a worker at full speed makes some thousand a second. */
const QUEUE_SPANS = 16_384
const BATCH_SPANS = 512
const SEND_AFTER_MS = 1_000

/**
 * Makes traces from here on, and sends them to a collector by OTLP over HTTP (JSON). To be called once in a process,
 * before the queue is opened.
 * @returns a function that sends what waits, and ends
 */
export function startTracing(options: TracingOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ url: options.url, timeoutMillis: options.timeoutMs })
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': options.serviceName }),
    ),
    spanProcessors: [
      new BatchSpanProcessor(new ReportingExporter(exporter, options.log), {
        maxQueueSize: QUEUE_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: SEND_AFTER_MS,
        exportTimeoutMillis: options.timeoutMs,
      }),
    ],
  })
  provider.register()
  makeSpansBy(openTelemetrySpans)
  tracePostgres()
  traceCalls(options.serviceUrl)
  return async () => {
    makeSpansBy(null)
    // What could not be sent is reported already.
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

/**
 * Gives each request that may change something a span, in the trace of the program that asks where it names one: a run
 * is then a part of what asked for it. To be called behind authentication, so that no stranger's trace is continued.
 */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  // Not sooner: what runs once the body is read has forgotten its context.
  app.addHook('preHandler', (request, _reply, done) => {
    if (HARMLESS.has(request.method)) return done()
    const { traceparent } = request.headers
    inTraceOf(typeof traceparent === 'string' ? traceparent : null, () => {
      const route = request.routeOptions.url ?? 'unknown'
      const span = trace.getTracer(TRACER).startSpan(`${request.method} ${route}`, {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': request.method, 'http.route': route },
      })
      spans.set(request, span)
      context.with(trace.setSpan(context.active(), span), done)
    })
  })
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request)
    span?.setAttribute('http.response.status_code', reply.statusCode)
    span?.end()
  })
}

const HARMLESS = new Set(['GET', 'HEAD', 'OPTIONS'])

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
const TRACER = 'collab-sync'

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
