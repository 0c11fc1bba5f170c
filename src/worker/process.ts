import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { every } from '../base/every.ts'
import type { Repeated } from '../base/every.ts'
import type { Log } from '../base/log.ts'
import { version } from '../base/version.ts'
import type { Database } from '../core/database/pool.ts'
import * as workers from '../core/database/statements/workers.ts'
import type { Settings } from '../settings/table.ts'

export const HEARTBEAT_MS = 5_000

/** A name for this process that no other has: host:pid:random. */
export function nameProcess(): string {
  const host = hostname().replaceAll(/[^\w.-]/g, '-')
  return `${host}:${process.pid}:${randomBytes(4).toString('hex')}`
}

/** What the first heartbeat of a process stores for good. */
export function describeProcess(
  kind: 'worker' | 'run' | 'serve',
  { configuration }: Pick<Settings, 'configuration'>,
): { kind: string; version: string; configuration: string } {
  return { kind, version: version(), configuration: JSON.stringify(configuration) }
}

/** Reports every five seconds that a `serve` is alive, until stopped. A PostgreSQL that is unreachable is logged. */
export function reportServe(
  database: Database,
  settings: Settings,
  log: Log,
): Pick<Repeated, 'stop'> {
  const workerId = nameProcess()
  const idle = {
    callsInFlight: 0,
    mostCallsInFlight: 0,
    callMs: null,
    problem: null,
    waiting: null,
  }
  const described = describeProcess('serve', settings)
  const heartbeat = { workerId, ...idle, rateLimit: null, settings: null, ...described }
  const reporting = every(HEARTBEAT_MS, log, 'heartbeat', async () => {
    await workers.heartbeat.run(database, heartbeat)
  })
  void reporting.now()
  return {
    async stop() {
      await reporting.stop()
      await workers.leave.run(database, { workerId }).catch(() => {})
    },
  }
}
