import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { AppWatch } from '../app.ts'
import { EnvironmentError } from '../../base/errors.ts'
import type { Load } from '../../core/service/client.ts'
import type { JobWatch } from '../worker.ts'
import {
  addProcessMetrics,
  RECORD_OUTCOMES,
  ROW_COUNTS,
  SCOPE_OUTCOMES,
} from './service-registry.ts'

/** The metrics of one worker. A label never contains an id. */
export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

const CALL_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const RUN_SECONDS = [1, 10, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800]

/** Counters: the name between `collab_sync_` and `_total`, the help and the labels. */
const COUNTERS = {
  calls: ['Calls to the service, including retries.', ['operation', 'outcome']],
  call_retries: ['Calls that were retries.', ['operation']],
  limiter_wait_seconds: [
    'Time that calls waited because of SYNC_RATE_LIMIT, summed over concurrent calls.',
    [],
  ],
  throttled_wait_seconds: [
    'Time that calls waited because the service throttled, including the delay before the retry of a throttled call, summed over concurrent calls.',
    [],
  ],
  scopes: ['Scopes whose result was committed.', ['operation', 'outcome']],
  records: ['Records in committed responses, by outcome.', ['operation', 'outcome']],
  rows: ['Rows that commits wrote or marked as deleted.', ['table', 'outcome']],
} as const

type Counters = { [N in keyof typeof COUNTERS]: Counter<(typeof COUNTERS)[N][1][number]> }

/** Gauges that are read at each scrape: the name after `collab_sync_`, the help and the member of the snapshot. */
const CONCURRENCY_GAUGES = [
  ['calls_in_flight', 'Calls that were sent and have no response yet.', 'inFlight'],
  [
    'calls_in_flight_limit',
    'Current maximum of calls in flight: SYNC_CONCURRENCY, or less if the service was overloaded.',
    'limit',
  ],
  [
    'calls_waiting',
    'Calls that wait because as many as the limit are in flight or wait for SYNC_RATE_LIMIT.',
    'waiting',
  ],
] as const

/** Creates the metrics of one worker, at zero. */
export function createWorkerMetrics() {
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
    help: 'Jobs in progress in this worker.',
    labelNames: ['job'],
    registers,
  })
  const calls = new Histogram({
    name: 'collab_sync_call_duration_seconds',
    help: 'Duration of calls, from sending to the last byte.',
    labelNames: ['operation'],
    buckets: CALL_SECONDS,
    registers,
  })
  const runs = new Histogram({
    name: 'collab_sync_run_duration_seconds',
    help: 'Runs that this worker finished, by duration from the first job to the end.',
    labelNames: ['trigger', 'status'],
    buckets: RUN_SECONDS,
    registers,
  })
  const watch: AppWatch & JobWatch = {
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
  }
  return {
    registry,
    watch,
    /** Adds gauges that read the calls in flight at each scrape. */
    readConcurrency(concurrency: () => Load): void {
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

/** The server of a worker's /metrics. */
export type MetricsListener = Awaited<ReturnType<typeof listenForMetrics>>

/**
 * Serves one registry over HTTP at /metrics, and nothing else.
 * @throws EnvironmentError if the port cannot be opened
 */
export async function listenForMetrics(
  registry: Registry,
  { host, port }: { host: string; port: number },
) {
  const server = createServer((request, response) => {
    const isMetrics = request.url?.split('?')[0] === '/metrics'
    if (!isMetrics || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(isMetrics ? 405 : 404).end()
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
      `METRICS_PORT ${port} cannot be opened on ${host} (${code}). Each worker on a machine needs its own port.`,
      { cause: error },
    )
  }
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
