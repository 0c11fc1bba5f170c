import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AppWatch } from '../app.ts'
import { EnvironmentError } from '../../base/errors.ts'
import type { ConcurrencySnapshot } from '../../core/service/concurrency.ts'
import type { JobWatch } from '../worker.ts'
import { addProcessMetrics } from './service-registry.ts'

/** What a worker counts of itself, in a registry of its own; a label never holds an id. */
export interface WorkerMetrics {
  readonly registry: Registry
  readonly watch: AppWatch & JobWatch
  /** From now on the calls in flight are asked of this when Prometheus comes. */
  readConcurrency(concurrency: () => ConcurrencySnapshot): void
}

const CALL_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const RUN_SECONDS = [1, 10, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800]

/** Counters of one worker, at zero. */
export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry()
  addProcessMetrics(registry)
  const registers = [registry]
  const jobs = new Gauge({
    name: 'collab_sync_jobs_in_hand',
    help: 'Jobs that this worker has in hand.',
    labelNames: ['job'],
    registers,
  })
  return {
    registry,
    watch: {
      called: countCalls(registry),
      ...countCommits(registry),
      finished: timeRuns(registry),
      jobBegun: (job) => jobs.inc({ job }),
      jobEnded: (job) => jobs.dec({ job }),
    },
    readConcurrency: (concurrency) => showConcurrency(registry, concurrency),
  }
}

function counter<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: Label[] = [],
): Counter<Label> {
  return new Counter({ name: `collab_sync_${name}_total`, help, labelNames, registers: [registry] })
}

function countCalls(registry: Registry): AppWatch['called'] {
  const calls = counter(registry, 'calls', 'Calls made to the service, further tries included.', [
    'operation',
    'outcome',
  ])
  const retries = counter(registry, 'call_retries', 'Of the calls, those that tried again.', [
    'operation',
  ])
  const seconds = new Histogram({
    name: 'collab_sync_call_duration_seconds',
    help: 'What calls took, from sending to the last byte.',
    labelNames: ['operation'],
    buckets: CALL_SECONDS,
    registers: [registry],
  })
  const waited = counter(
    registry,
    'limiter_wait_seconds',
    'Waiting of calls for their slots under SYNC_RATE_LIMIT, summed over calls side by side.',
  )
  const throttled = counter(
    registry,
    'throttled_wait_seconds',
    'Waiting of calls because the service throttled: for a pause to end, or for the next try of a throttled call; summed likewise.',
  )
  return ({ operation, outcome, isRetry, waitedMs, waitedThrottledMs, serviceMs }) => {
    calls.inc({ operation, outcome })
    if (isRetry) retries.inc({ operation })
    seconds.observe({ operation }, serviceMs / 1000)
    waited.inc(waitedMs / 1000)
    throttled.inc(waitedThrottledMs / 1000)
  }
}

function countCommits(registry: Registry): Pick<AppWatch, 'committed'> {
  const outcomeOf = (name: string, help: string) =>
    counter(registry, name, help, ['operation', 'outcome'])
  const scopes = outcomeOf('scopes', 'Scopes whose answer, or the lack of one, was committed.')
  const records = outcomeOf('records', 'Records in committed answers, by what became of each.')
  const rows = counter(registry, 'rows', 'Rows that commits wrote, or marked as deleted.', [
    'table',
    'outcome',
  ])
  return {
    committed(operation, counts) {
      for (const outcome of ['Succeeded', 'Failed', 'Held'] as const)
        scopes.inc({ operation, outcome: outcome.toLowerCase() }, counts[`scopes${outcome}`])
      for (const outcome of ['Inserted', 'Updated', 'Unchanged', 'Rejected', 'Null'] as const)
        records.inc({ operation, outcome: outcome.toLowerCase() }, counts[`records${outcome}`])
      rows.inc({ table: 'users', outcome: 'written' }, counts.usersWritten)
      rows.inc({ table: 'comments', outcome: 'written' }, counts.commentsWritten)
      rows.inc({ table: 'comments', outcome: 'deleted' }, counts.commentsDeleted)
      rows.inc({ table: 'rejected_records', outcome: 'written' }, counts.rejected)
    },
  }
}

function timeRuns(registry: Registry): AppWatch['finished'] {
  const runs = new Histogram({
    name: 'collab_sync_run_duration_seconds',
    help: 'Runs that this worker settled: their count, and what they took from the first job to the end.',
    labelNames: ['trigger', 'status'],
    buckets: RUN_SECONDS,
    registers: [registry],
  })
  return ({ trigger, status, durationS }) => runs.observe({ trigger, status }, durationS)
}

function showConcurrency(registry: Registry, concurrency: () => ConcurrencySnapshot): void {
  const gauges: readonly [
    name: string,
    help: string,
    read: (now: ConcurrencySnapshot) => number,
  ][] = [
    ['calls_in_flight', 'Calls in flight.', (now) => now.inFlight],
    [
      'calls_in_flight_limit',
      'Most calls in flight at present: SYNC_CONCURRENCY, or less where the service was overloaded.',
      (now) => now.limit,
    ],
    ['calls_waiting', 'Calls that wait for a place among those in flight.', (now) => now.waiting],
  ]
  for (const [name, help, read] of gauges) {
    new Gauge({
      name: `collab_sync_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read(concurrency()))
      },
    })
  }
}

/** A worker's own /metrics, while it is open. */
export interface MetricsListener {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves one registry over HTTP at /metrics, and nothing else.
 * @throws EnvironmentError where the port cannot be had
 */
export async function listenForMetrics(
  registry: Registry,
  { host, port }: { host: string; port: number },
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const isAsked = request.url?.split('?')[0] === '/metrics'
    if (!isAsked || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isAsked ? 405 : 404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new EnvironmentError(
      `METRICS_PORT ${port} on ${host} cannot be listened on (${code}): each worker of a machine needs a port of its own.`,
      { cause: error },
    )
  }
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
