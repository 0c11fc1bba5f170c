import Fastify from 'fastify'
import { afterAll, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import type { App } from '../../src/worker/app.ts'
import { places } from '../../src/demo/catalog.ts'
import { quarterOfAllCallsTenWays } from '../service/faults.ts'
import { createLog } from '../../src/base/log.ts'
import type { ServiceSettings } from '../../src/settings/settings.ts'
import type { Settings } from '../../src/settings/table.ts'
import { startRun } from '../../src/core/run/start.ts'
import { metrics } from '../../src/http/serve-metrics.ts'
import { createWorkerMetrics, listenForMetrics } from '../../src/worker/telemetry/worker-metrics.ts'
import type { MetricsListener } from '../../src/worker/telemetry/worker-metrics.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { until } from '../helpers/until.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'
import { fileText } from '../deploy/yaml-files.ts'
import { samplesIn, sumOf, valueOf } from './exposition.ts'

/** One run with faults of every kind, worked by one worker; then a second one whose credentials are refused. */
const live = await openLoaded('postgres', { world: { usersPerOrganization: 20 } })
const [place] = [...places(live.world)]
live.standIn.setFaults([
  { kind: 'bad-request', match: { operation: 'comments', ...place } },
  { kind: 'poison', poison: 'nul', match: { operation: 'comments' }, times: 2 },
  ...quarterOfAllCallsTenWays(0),
])
const { settings, store } = await live.openApp()
const worker = createWorkerMetrics()
const withService = settings as Settings & ServiceSettings
const app = await openApp(withService, store, createLog('silent'), worker.watch)
worker.readConcurrency(() => app.sync.collabApi.concurrency())
const listener: MetricsListener = await listenForMetrics(worker.registry, {
  host: '127.0.0.1',
  port: 0,
})
const working = await startWorker(app, jobs, { keepsSchedule: true, watch: worker.watch })
const run: RunRow = await oneRun()
const workerText: string = await until('the worker has counted the run', scrapeSettled)
live.standIn.setFaults([{ kind: 'unauthenticated' }])
const refused: RunRow = await oneRun()
const serveText: string = await scrapeServe()
await working.stop()
afterAll(async () => {
  await listener?.close()
  await app?.close()
})

async function oneRun(): Promise<RunRow> {
  const request = { trigger: 'cli', scope: {}, requestKey: null } as const
  const { runId, items } = await startRun(app.sync, request)
  await app.deliver(items)
  return settled(live.database, runId)
}

/** A run is settled a moment before the worker has counted that, and its last jobs have ended. */
async function scrapeSettled(): Promise<string | null> {
  const text = await (await fetch(listener.url)).text()
  const isCounted = sumOf(text, 'collab_sync_run_duration_seconds_count') === 1
  return isCounted && sumOf(text, 'collab_sync_jobs_in_hand') === 0 ? text : null
}

async function scrapeServe(): Promise<string> {
  const server = Fastify()
  await server.register(metrics, { database: app.store.database, queue: app.queue })
  const { statusCode, headers, body } = await server.inject('/metrics')
  await server.close()
  expect(statusCode).toBe(200)
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  return body
}

/** A number of sync.runs. */
const of = (row: RunRow, column: string) => Number(row[column])

describe('the counters of a worker', () => {
  test('equal sync.runs after a run with faults', () => {
    expect(of(run, 'retries')).toBeGreaterThan(10)
    expect(of(run, 'failures')).toBeGreaterThan(0)
    expect(of(run, 'rejected')).toBeGreaterThan(0)
    expect(sumOf(workerText, 'collab_sync_calls_total')).toBe(of(run, 'calls'))
    expect(sumOf(workerText, 'collab_sync_call_retries_total')).toBe(of(run, 'retries'))
    expect(sumOf(workerText, 'collab_sync_call_duration_seconds_count')).toBe(of(run, 'calls'))
    for (const outcome of ['succeeded', 'failed', 'held'])
      expect(sumOf(workerText, 'collab_sync_scopes_total', { outcome }), outcome).toBe(
        of(run, `scopes_${outcome}`),
      )
    for (const outcome of ['inserted', 'updated', 'unchanged', 'rejected', 'null'])
      expect(sumOf(workerText, 'collab_sync_records_total', { outcome }), outcome).toBe(
        of(run, `records_${outcome}`),
      )
    expectRows('collab_sync_rows_total', workerText, run)
  })

  test('tell each way in which a call ended', () => {
    for (const outcome of ['success', 'overload', 'transient', 'refused'])
      expect(sumOf(workerText, 'collab_sync_calls_total', { outcome }), outcome).toBeGreaterThan(0)
    const calls = samplesIn(workerText).filter(({ name }) => name === 'collab_sync_calls_total')
    for (const { labels } of calls)
      expect(labels).toEqual({
        operation: expect.stringMatching(/^(users|comments)$/),
        outcome: expect.stringMatching(
          /^(success|overload|timeout|transient|refused|credentials|unknown|given_up)$/,
        ),
      })
  })

  test('show the pace, the jobs in hand and the run that ended', () => {
    expect(valueOf(workerText, 'collab_sync_calls_in_flight')).toBe(0)
    expect(valueOf(workerText, 'collab_sync_calls_in_flight_limit')).toBeGreaterThan(0)
    expect(valueOf(workerText, 'collab_sync_calls_waiting')).toBe(0)
    expect(valueOf(workerText, 'collab_sync_jobs_in_hand', { job: 'sync-batch' })).toBe(0)
    expect(
      valueOf(workerText, 'collab_sync_run_duration_seconds_count', {
        trigger: 'cli',
        status: run.status,
      }),
    ).toBe(1)
    expect(sumOf(workerText, 'process_resident_memory_bytes')).toBeGreaterThan(0)
  })

  test('are all there is at its address', async () => {
    const { origin } = new URL(listener.url)
    expect((await fetch(`${origin}/`)).status).toBe(404)
    expect((await fetch(listener.url, { method: 'POST' })).status).toBe(405)
  })
})

describe('the metrics of serve', () => {
  test('equal sync.runs after a run with faults', () => {
    const both = (column: string) => of(run, column) + of(refused, column)
    expect(valueOf(serveText, 'collab_sync_runs_calls')).toBe(both('calls'))
    expect(valueOf(serveText, 'collab_sync_runs_retries')).toBe(both('retries'))
    for (const outcome of ['succeeded', 'failed', 'held', 'skipped'])
      expect(valueOf(serveText, 'collab_sync_runs_scopes', { outcome }), outcome).toBe(
        both(`scopes_${outcome}`),
      )
    for (const outcome of ['inserted', 'updated', 'unchanged', 'rejected', 'null'])
      expect(valueOf(serveText, 'collab_sync_runs_records', { outcome }), outcome).toBe(
        both(`records_${outcome}`),
      )
    const runs = (status: string) =>
      valueOf(serveText, 'collab_sync_runs', { trigger: 'cli', status })
    expect(runs('partial')).toBe(1)
    expect(runs('failed')).toBe(1)
    expect(sumOf(serveText, 'collab_sync_runs')).toBe(2)
  })

  test('tell the last run', () => {
    const last = (name: string, labels = {}) =>
      valueOf(serveText, `collab_sync_last_run_${name}`, { trigger: 'cli', ...labels })
    expect(refused.status).toBe('failed')
    expect(last('status', { status: 'failed' })).toBe(1)
    expect(last('status', { status: 'partial' })).toBe(0)
    expect(last('calls')).toBe(of(refused, 'calls'))
    expect(last('scopes', { outcome: 'skipped' })).toBe(of(refused, 'scopes_skipped'))
    const finishedAt = (refused['finished_at'] as Date).getTime() / 1000
    expect(last('finished_timestamp_seconds')).toBeCloseTo(finishedAt, 2)
    expect(last('duration_seconds')).toBeGreaterThanOrEqual(0)
  })

  test('tell how fresh what is stored is, what waits, who works and what is next', () => {
    const value = (name: string, labels = {}) => valueOf(serveText, `collab_sync_${name}`, labels)
    expect(value('database_up')).toBe(1)
    expect(value('queue_up')).toBe(1)
    expect(value('workers_alive')).toBe(1)
    expect(value('workers_calls_in_flight_limit')).toBeGreaterThan(0)
    expect(value('catalog_scopes')).toBe(of(run, 'scopes_expected'))
    // What failed or is held in the one run that there was.
    const notGood = of(run, 'scopes_failed') + of(run, 'scopes_held')
    expect(value('catalog_scopes_never_checked')).toBe(notGood)
    // The night after it was given up: of nothing is known whether it changed.
    expect(value('catalog_scopes_stale')).toBe(of(run, 'scopes_expected'))
    expect(value('catalog_scopes_overdue')).toBe(0)
    expect(value('oldest_check_age_seconds')).toBeGreaterThanOrEqual(
      value('newest_check_age_seconds'),
    )
    expect(value('freshness_promise_seconds')).toBe(26 * 3600)
    const attention = (kind: string) => value('attention', { kind })
    expect(attention('failing')).toBe(of(run, 'scopes_failed'))
    expect(attention('held')).toBe(of(run, 'scopes_held'))
    expect(attention('rejected')).toBe(of(run, 'rejected') + of(refused, 'rejected'))
    expect(attention('catalog_empty')).toBe(0)
    expect(value('open_run_age_seconds')).toBe(0)
    expect(value('queue_jobs', { state: 'delayed' })).toBe(1)
    expect(value('next_nightly_timestamp_seconds')).toBeGreaterThan(Date.now() / 1000)
  })

  test('do not change within five seconds, whoever asks, and say when PostgreSQL is away', async () => {
    const server = Fastify()
    const gone = {
      ...app.store.database,
      query: () => Promise.reject(new Error('away')),
    } as unknown as App['store']['database']
    await server.register(metrics, { database: gone, queue: app.queue })
    const [first, second] = await Promise.all([
      server.inject('/metrics'),
      server.inject('/metrics'),
    ])
    await server.close()
    const ours = (text: string) => text.split('\n').filter((line) => line.includes('collab_sync'))
    expect(ours(first.body)).toEqual(ours(second.body))
    expect(first.statusCode).toBe(200)
    expect(valueOf(first.body, 'collab_sync_database_up')).toBe(0)
    expect(valueOf(first.body, 'collab_sync_queue_up')).toBe(1)
    expect(first.body).not.toContain('collab_sync_runs')
  })
})

test('labels hold no id, whoever tells', () => {
  const ids = [...live.world.organizationIds()]
  for (const text of [workerText, serveText]) {
    expect(text).not.toContain(run.run_id)
    for (const id of ids) expect(text).not.toContain(`"${id}"`)
    const names = samplesIn(text).map(({ name }) => name)
    for (const name of new Set(names))
      expect(names.filter((each) => each === name).length, name).toBeLessThan(80)
  }
})

test('alerts, their tests and the dashboard use only metrics that there are, each with a sentence', () => {
  const helps = [...`${workerText}${serveText}`.matchAll(/^# HELP (collab_sync_\w+) (.*)$/gm)]
  for (const [, name, help] of helps) expect(help, name).toMatch(/^[A-Z].*\.$/)
  const known = helps.map(([, name]) => name)
  for (const path of [
    'docs/alerts/collab-sync.rules.yml',
    'docs/alerts/collab-sync.rules.test.yml',
    'docs/grafana/dashboards/collab-sync.json',
  ]) {
    const used = [...fileText(path).matchAll(/\bcollab_sync_[a-z_]+/g)].map(([name]) => name)
    const asked = used.map((name) => name.replace(/_(bucket|sum)$/, ''))
    expect(asked.length, path).toBeGreaterThan(8)
    expect(
      asked.filter((name) => !known.includes(name)),
      path,
    ).toEqual([])
  }
})

function expectRows(name: string, text: string, row: RunRow): void {
  const value = (table: string, outcome: string) => valueOf(text, name, { table, outcome })
  expect(value('users', 'written')).toBe(of(row, 'users_written'))
  expect(value('comments', 'written')).toBe(of(row, 'comments_written'))
  expect(value('comments', 'deleted')).toBe(of(row, 'comments_deleted'))
  expect(value('rejected_records', 'written')).toBe(of(row, 'rejected'))
}
