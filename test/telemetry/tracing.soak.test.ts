import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment, StandInProcess } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { QUEUE_KINDS, isMissing } from '../helpers/live.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { startCollector } from './collector.ts'
import type { Collector, ReceivedSpan } from './collector.ts'

const WORLD = ['--organizations', '2', '--documents', '3', '--annotations', '5', '--users', '12']

let command: BuiltCommand
let standIn: StandInProcess
let catalog: string
const prefixes: string[] = []
beforeAll(async () => {
  command = await buildCommand()
  catalog = join(command.directory, 'catalog.ndjson')
  standIn = await command.startStandIn(...WORLD, '--catalog', catalog)
})
afterAll(async () => {
  await command?.remove()
  await removeKeys()
})

describe.each(QUEUE_KINDS)('traces, with the queue on %s', (queue) => {
  let database: TestDatabase
  let collector: Collector
  let environment: Environment

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    database = await createTestDatabase()
    collector = await startCollector()
    environment = {
      ...standIn.environment,
      DATABASE_URL: database.url,
      ...(queue === 'redis' ? { REDIS_URL: redisUrl(), QUEUE_PREFIX: newPrefix() } : {}),
    } as Environment
    const imported = await command.run(['catalog', 'import', catalog], environment)
    expect(imported, imported.stderr).toMatchObject({ code: 0 })
    environment = {
      ...environment,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      // A busy machine may be slow to answer, and no span may be dropped for that.
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
    }
  })
  afterEach(async () => {
    await collector?.close()
    await database?.drop()
  })

  test('a run that one process asks for and another works is one connected trace', async () => {
    const worker = command.start(['worker'], { ...environment, OTEL_SERVICE_NAME: 'night-worker' })
    await worker.shows(/"working"/)
    const enqueued = await command.runProcess(['enqueue', '--wait', '--json'], environment)
    expect(enqueued, enqueued.stderr).toMatchObject({ code: 0 })
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
    const { runId } = JSON.parse(enqueued.stdout) as { runId: string }
    const trace = traceOf(collector, runId)
    expectConnected(trace, 'collab-sync enqueue')
    await expectWhole(trace, runId)
    expect(new Set(trace.map(({ service }) => service))).toEqual(
      new Set(['collab-sync', 'night-worker']),
    )
    const { rows } = await database.pool.query('select traceparent from sync.runs')
    const start = trace.find(({ name }) => name === 'start run') as ReceivedSpan
    expect(rows).toEqual([{ traceparent: `00-${start.traceId}-${start.spanId}-01` }])
  })

  test('a run that a program asks for over HTTP is part of the trace of that program', async () => {
    const worker = command.start(['worker'], environment)
    const served = command.start(['serve'], { ...environment, HTTP_PORT: '0' })
    let told = ''
    served.child.stderr?.on('data', (text: string) => (told += text))
    await served.shows(/"address":"http/)
    const address = /"address":"([^"]+)"/.exec(told)?.[1]
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const asked = await fetch(`${address}/v1/runs`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
      },
      body: '{}',
    })
    expect(asked.status).toBe(202)
    const { runId } = (await asked.json()) as { runId: string }
    await worker.shows(/"run settled"/)
    for (const { child, ended } of [served, worker]) {
      child.kill('SIGTERM')
      expect(await ended).toMatchObject({ code: 0 })
    }
    const trace = traceOf(collector, runId)
    expect(new Set(trace.map(({ traceId: id }) => id))).toEqual(new Set([traceId]))
    const ids = new Set(trace.map(({ spanId }) => spanId))
    const outside = trace.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId))
    expect(outside.map(({ name }) => name)).toEqual(['POST /v1/runs'])
    await expectWhole(trace, runId)
  })

  test('a run in one process is one connected trace, without secrets and without data', async () => {
    const ran = await command.runProcess(['run', '--json'], environment)
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const { runId } = JSON.parse(ran.stdout) as { runId: string }
    expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1)
    const trace = traceOf(collector, runId)
    expectConnected(trace, 'collab-sync run')
    await expectWhole(trace, runId)
    await expectNoData()
  })

  test('work that is lost and found again stays in the trace of its run', async () => {
    const enqueued = await command.runProcess(['enqueue', '--json'], environment)
    const { runId } = JSON.parse(enqueued.stdout) as { runId: string }
    // Another queue is one that lost everything.
    const elsewhere: Environment =
      queue === 'redis'
        ? { ...environment, QUEUE_PREFIX: newPrefix() }
        : { ...environment, REDIS_URL: '' }
    if (queue === 'postgres') await database.pool.query('delete from bullmq.job')
    const worker = command.start(['worker'], elsewhere)
    await worker.shows(/"run settled"/)
    worker.child.kill('SIGTERM')
    await worker.ended
    const trace = traceOf(collector, runId)
    expectConnected(trace, 'collab-sync enqueue')
    await expectWhole(trace, runId)
  })

  test('a collector that is away costs one warning, and nothing else', async () => {
    await collector.close()
    const ran = await command.runProcess(['run', '--json'], { ...environment, LOG_LEVEL: 'info' })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const warnings = ran.stderr.split('\n').filter((line) => line.includes('collector of traces'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('"level":"warn"')
    expect(collector.spans).toEqual([])
  })

  /** Everything of the run is there, from the request to the last row. */
  async function expectWhole(trace: readonly ReceivedSpan[], runId: string): Promise<void> {
    const names = trace.map(({ name }) => name)
    const count = (name: string) => names.filter((each) => each === name).length
    const { rows } = await database.pool.query(
      `select calls::int, (select count(*)::int from sync.run_items i where i.run_id = r.run_id and kind = 'sync-batch') as batches
      from sync.runs r where run_id = $1`,
      [runId],
    )
    const calls = names.filter((name) => name.startsWith('POST /v1/') && name !== 'POST /v1/runs')
    expect(calls).toHaveLength(rows[0].calls)
    expect(count('sync-batch')).toBeGreaterThanOrEqual(rows[0].batches)
    expect(count('commit')).toBeGreaterThanOrEqual(rows[0].batches)
    expect(count('sql items/commit')).toBeGreaterThanOrEqual(rows[0].batches)
    for (const name of ['start run', 'page-organizations', 'settle run', 'sql runs/settle'])
      expect(count(name), name).toBeGreaterThanOrEqual(1)
    const batch = trace.find(({ name }) => name === 'sync-batch')
    expect(batch?.attributes).toMatchObject({
      'collab_sync.run.id': runId,
      'collab_sync.operation': expect.stringMatching(/^(users|comments)$/),
    })
  }

  async function expectNoData(): Promise<void> {
    const sent = collector.bodies.join('\n')
    const { COLLAB_API_KEY = '', COLLAB_AUTH_TOKEN = '' } = standIn.environment
    for (const secret of [COLLAB_API_KEY, COLLAB_AUTH_TOKEN])
      expect(secret !== '' && sent.includes(secret)).toBe(false)
    const { rows } = await database.pool.query(
      `select comment_text as text from collab.comments where length(comment_text) > 12
      union all select email from collab.users union all select name from collab.users where length(name) > 6
      union all select organization_id from collab.organizations`,
    )
    expect(rows.length).toBeGreaterThan(20)
    const told = rows.filter(({ text }) => text !== null && sent.includes(text))
    expect(told).toEqual([])
    expect(/insert into|returning|select [^"]/i.exec(sent)?.[0]).toBeUndefined()
  }
})

function newPrefix(): string {
  const prefix = randomPrefix()
  prefixes.push(prefix)
  return prefix
}

async function removeKeys(): Promise<void> {
  if (prefixes.length === 0) return
  const client = new Redis(redisUrl() as string)
  for (const prefix of prefixes) {
    const keys = await client.keys(`${prefix}*`)
    if (keys.length > 0) await client.del(keys)
  }
  client.disconnect()
}

function traceOf(collector: Collector, runId: string): ReceivedSpan[] {
  const named = collector.spans.find(({ attributes }) => attributes['collab_sync.run.id'] === runId)
  return collector.spans.filter(({ traceId }) => traceId === named?.traceId)
}

/** One root, and every other span's parent is there. */
function expectConnected(trace: readonly ReceivedSpan[], root: string): void {
  expect(trace.length).toBeGreaterThan(20)
  const ids = new Set(trace.map(({ spanId }) => spanId))
  const isRoot = ({ parentSpanId = '' }: ReceivedSpan) => parentSpanId === ''
  expect(trace.filter(isRoot).map(({ name }) => name)).toEqual([root])
  const orphans = trace.filter((span) => !isRoot(span) && !ids.has(span.parentSpanId as string))
  expect(orphans.map(({ name }) => name)).toEqual([])
}
