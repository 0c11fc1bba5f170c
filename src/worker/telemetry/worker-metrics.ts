import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AppWatch } from '../app.ts'
import { EnvironmentError } from '../../base/errors.ts'
import type { ConcurrencySnapshot } from '../../core/service/concurrency.ts'
import type { JobWatch } from '../worker.ts'
import {
  addProcessMetrics,
  RECORD_OUTCOMES,
  ROW_COUNTS,
  SCOPE_OUTCOMES,
} from './service-registry.ts'

/** What a worker counts of itself, in a registry of its own; a label never holds an id. */
export interface WorkerMetrics {
  readonly registry: Registry
  readonly watch: AppWatch & JobWatch
  /** From now on the calls in flight are asked of this when Prometheus comes. */
  readConcurrency(concurrency: () => ConcurrencySnapshot): void
}

const CALL_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const RUN_SECONDS = [1, 10, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800]

/** What calls and commits are counted by: the name between `collab_sync_` and `_total`, its help and its labels. */
const COUNTERS = {
  calls: ['Calls made to the service, further tries included.', ['operation', 'outcome']],
  call_retries: ['Of the calls, those that tried again.', ['operation']],
  limiter_wait_seconds: [
    'Waiting of calls for their slots under SYNC_RATE_LIMIT, summed over calls side by side.',
    [],
  ],
  throttled_wait_seconds: [
    'Waiting of calls because the service throttled: for a pause to end, or for the next try of a throttled call; summed likewise.',
    [],
  ],
  scopes: ['Scopes whose answer, or the lack of one, was committed.', ['operation', 'outcome']],
  records: ['Records in committed answers, by what became of each.', ['operation', 'outcome']],
  rows: ['Rows that commits wrote, or marked as deleted.', ['table', 'outcome']],
} as const

type Counters = { [N in keyof typeof COUNTERS]: Counter<(typeof COUNTERS)[N][1][number]> }

/** What is read of the calls in flight when Prometheus comes: the name behind `collab_sync_`, its help, its member. */
const CONCURRENCY_GAUGES = [
  ['calls_in_flight', 'Calls in flight.', 'inFlight'],
  [
    'calls_in_flight_limit',
    'Most calls in flight at present: SYNC_CONCURRENCY, or less where the service was overloaded.',
    'limit',
  ],
  ['calls_waiting', 'Calls that wait for a place among those in flight.', 'waiting'],
] as const

/** Counters of one worker, at zero. */
export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry()
  addProcessMetrics(registry)
  const registers = [registry]
  const counters = Object.fromEntries(
    Object.entries(COUNTERS).map(([name, [help, labelNames]]) => [
      name,
      new Counter({ name: `collab_sync_${name}_total`, help, labelNames, registers }),
    ]),
  ) as Counters
  const jobs = new Gauge({
    name: 'collab_sync_jobs_in_hand',
    help: 'Jobs that this worker has in hand.',
    labelNames: ['job'],
    registers,
  })
  const calls = new Histogram({
    name: 'collab_sync_call_duration_seconds',
    help: 'What calls took, from sending to the last byte.',
    labelNames: ['operation'],
    buckets: CALL_SECONDS,
    registers,
  })
  const runs = new Histogram({
    name: 'collab_sync_run_duration_seconds',
    help: 'Runs that this worker settled: their count, and what they took from the first job to the end.',
    labelNames: ['trigger', 'status'],
    buckets: RUN_SECONDS,
    registers,
  })
  return {
    registry,
    watch: {
      called({ operation, outcome, isRetry, waitedMs, waitedThrottledMs, serviceMs }) {
        counters.calls.inc({ operation, outcome })
        if (isRetry) counters.call_retries.inc({ operation })
        calls.observe({ operation }, serviceMs / 1000)
        counters.limiter_wait_seconds.inc(waitedMs / 1000)
        counters.throttled_wait_seconds.inc(waitedThrottledMs / 1000)
      },
      committed(operation, counts) {
        for (const name of SCOPE_OUTCOMES)
          counters.scopes.inc({ operation, outcome: name.toLowerCase() }, counts[`scopes${name}`])
        for (const name of RECORD_OUTCOMES)
          counters.records.inc({ operation, outcome: name.toLowerCase() }, counts[`records${name}`])
        for (const [labels, count] of ROW_COUNTS) counters.rows.inc(labels, counts[count])
      },
      finished: ({ trigger, status, durationS }) => runs.observe({ trigger, status }, durationS),
      jobBegun: (job) => jobs.inc({ job }),
      jobEnded: (job) => jobs.dec({ job }),
    },
    readConcurrency(concurrency) {
      for (const [name, help, member] of CONCURRENCY_GAUGES)
        new Gauge({
          name: `collab_sync_${name}`,
          help,
          registers,
          collect() {
            this.set(concurrency()[member])
          },
        })
    },
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
