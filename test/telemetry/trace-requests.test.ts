import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import Fastify from 'fastify'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { openTelemetrySpans, traceRequests } from '../../src/telemetry/tracing.ts'
import {
  currentTraceparent,
  inTraceOf,
  makeSpansBy,
  outsideTraces,
  withSpan,
} from '../../src/trace.ts'

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
provider.register()
makeSpansBy(openTelemetrySpans)
afterAll(() => provider.shutdown())
beforeEach(() => exporter.reset())

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`

async function openServer() {
  const app = Fastify()
  traceRequests(app)
  app.post('/v1/runs/:id', async () => withSpan('start run', {}, async () => currentTraceparent()))
  app.get('/v1/runs', async () => currentTraceparent())
  await app.ready()
  return app
}

test('a request that changes something continues the trace of who asks', async () => {
  const app = await openServer()
  const { body } = await app.inject({
    method: 'POST',
    url: '/v1/runs/7',
    headers: { traceparent: TRACEPARENT },
    payload: { scope: {} },
  })
  await app.close()
  expect(body).toContain(TRACE_ID)
  const [start, request] = exporter.getFinishedSpans()
  expect(request).toMatchObject({
    name: 'POST /v1/runs/:id',
    parentSpanContext: { spanId: 'b7ad6b7169203331' },
    attributes: { 'http.response.status_code': 200 },
  })
  expect(start?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
})

test('without a trace of its own the request begins one, and a broken one is passed over', async () => {
  const app = await openServer()
  for (const headers of [{}, { traceparent: 'nonsense' }])
    await app.inject({ method: 'POST', url: '/v1/runs/7', headers })
  await app.close()
  const requests = exporter.getFinishedSpans().filter(({ name }) => name.startsWith('POST'))
  expect(requests).toHaveLength(2)
  for (const { parentSpanContext } of requests) expect(parentSpanContext).toBeUndefined()
})

test('a request that only reads makes no span', async () => {
  const app = await openServer()
  await app.inject({ url: '/v1/runs', headers: { traceparent: TRACEPARENT } })
  await app.close()
  expect(exporter.getFinishedSpans()).toEqual([])
})

test('work that is handed on stays where it is, unless that is another trace', async () => {
  await withSpan('here', {}, async () => {
    const here = currentTraceparent()
    inTraceOf(here, () => expect(currentTraceparent()).toBe(here))
    inTraceOf(null, () => expect(currentTraceparent()).toBe(here))
    inTraceOf('nonsense', () => expect(currentTraceparent()).toBe(here))
    inTraceOf(TRACEPARENT, () => expect(currentTraceparent()).toBe(TRACEPARENT))
    outsideTraces(() => expect(currentTraceparent()).toBeNull())
  })
})

test('a span of work that fails tells the class of its error, not the message', async () => {
  const fail = withSpan('work', {}, () => Promise.reject(new RangeError('a name of a person')))
  await expect(fail).rejects.toThrow('a name of a person')
  const [span] = exporter.getFinishedSpans()
  expect(span).toMatchObject({ status: { message: 'RangeError' }, events: [] })
})
