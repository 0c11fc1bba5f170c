import { SpanKind, context, trace } from '@opentelemetry/api'
import type { Span } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { inTraceOf } from '../trace.ts'
import { TRACER } from './spans.ts'

/**
 * Gives each request that may change something a span, in the trace of the program that asks where it names one: a run
 * is then a part of what asked for it. To be called behind the door, so that no stranger's trace is continued.
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
