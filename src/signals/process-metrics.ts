import { collectDefaultMetrics } from 'prom-client'
import type { Registry } from 'prom-client'

/** Adds this process's CPU, memory, event loop and garbage collection. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of MALFORMED) registry.removeSingleMetric(name)
}

/** Gauges with the name of a counter, which `promtool check metrics` refuses, and those that may read `Nan`. */
const MALFORMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
]
