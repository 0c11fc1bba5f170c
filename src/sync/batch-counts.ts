import type { CallStats } from '../collab-api/client.ts'
import { noCounts } from '../database/claims.ts'
import type { Counts } from '../database/claims.ts'
import { takeCpuMs } from './cpu-meter.ts'

/** The counts of one commit before its records are looked at: what calls and waiting have cost since the last one. */
export function countsSince(counted: CallStats, stats: CallStats, databaseMs: number): Counts {
  return {
    ...noCounts(),
    calls: stats.calls - counted.calls,
    retries: stats.retries - counted.retries,
    service_ms: Math.round(stats.serviceMs - counted.serviceMs),
    waited_ms: Math.round(stats.waitedMs - counted.waitedMs),
    database_ms: Math.round(databaseMs),
    cpu_ms: Math.round(takeCpuMs()),
  }
}
