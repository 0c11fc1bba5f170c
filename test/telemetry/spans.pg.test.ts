import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { setTracing, withSpan } from '../../src/base/trace.ts'
import { openLoaded } from '../helpers/live.ts'

/** What `node --import` of OpenTelemetry's instrumentation would register. */
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

provider.register()
const live = await openLoaded('postgres')
afterAll(async () => {
  await setTracing(false)
  await provider.shutdown()
})
beforeEach(() => exporter.reset())

async function traces(flag: '0' | '1'): Promise<void> {
  const { settings } = await live.openApp({ TRACES: flag })
  await setTracing(settings.traces)
}

test('without TRACES nothing makes spans', async () => {
  await traces('0')
  await live.run()
  expect(exporter.getFinishedSpans()).toEqual([])
})

test('with it a run is one connected trace, through the queue to its end', async () => {
  await traces('1')
  const { run_id: runId } = await withSpan('a program', {}, () => live.run())
  const spans = exporter.getFinishedSpans()
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const roots = spans.filter(({ parentSpanContext }) => !ids.has(parentSpanContext?.spanId ?? ''))
  expect(roots.map(({ name }) => name)).toEqual(['a program'])
  const names = spans.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['start run', 'page-organizations', 'sync-batch', 'commit']),
  )
  const settled = spans.find(({ name }) => name === 'finish run')
  expect(settled?.attributes).toMatchObject({
    'collab_sync.run.id': runId,
    'collab_sync.run.status': 'succeeded',
  })
  const told = JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]))
  for (const secret of [live.standIn.apiKey, live.standIn.authToken])
    expect(told).not.toContain(secret)
})

test('a span of work that fails tells the class of its error, not the message', async () => {
  await traces('1')
  const fail = withSpan('work', {}, () => Promise.reject(new RangeError('a name of a person')))
  await expect(fail).rejects.toThrow('a name of a person')
  const [span] = exporter.getFinishedSpans()
  expect(span).toMatchObject({ status: { message: 'RangeError' }, events: [] })
})
