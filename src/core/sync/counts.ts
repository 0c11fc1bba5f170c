import { noCounts } from '../../schemas/counts.ts'
import type { Counts } from '../../schemas/counts.ts'
import type { Database } from '../database/pool.ts'
import * as runs from '../database/statements/runs.ts'
import type { Log } from '../../base/log.ts'
import type { CallStats } from '../service/client.ts'

/** Calls, the retries among them, and how long they were throttled so far. */
type Sent = Pick<CallStats, 'calls' | 'retries' | 'waitedThrottledMs'>

/**
 * Calls that this process sent and `sync.runs` does not count yet, by run. Each is counted when it is sent, regardless of the response.
 * A worker writes them about once a second: if it is killed, those of its last second are missing. The counts of items have only
 * the calls of their commits, which leaves out those of superseded claims.
 */
export class SentCalls {
  readonly #database: Database
  readonly #log: Log
  #unwritten = new Map<string, Sent>()
  #writing: Promise<void> = Promise.resolve()

  constructor(database: Database, log: Log) {
    this.#database = database
    this.#log = log
  }

  /** Counts calls of a run. */
  add(runId: string, sent: Partial<Sent>): void {
    const { calls = 0, retries = 0, waitedThrottledMs = 0 } = this.#unwritten.get(runId) ?? {}
    this.#unwritten.set(runId, {
      calls: calls + (sent.calls ?? 0),
      retries: retries + (sent.retries ?? 0),
      waitedThrottledMs: waitedThrottledMs + (sent.waitedThrottledMs ?? 0),
    })
  }

  /** Writes what was noted so far, one statement a run. Never rejects: what PostgreSQL does not take is kept. */
  write(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#writeAll()))
  }

  /** Writes for the last time, and says in the log what could not be written. */
  async close(): Promise<void> {
    await this.write()
    for (const [runId, counts] of this.#unwritten)
      this.#log.warn({ runId, ...counts }, 'sent calls could not be written to sync.runs')
  }

  async #writeAll(): Promise<void> {
    const noted = this.#unwritten
    this.#unwritten = new Map()
    for (const [runId, sent] of noted) {
      const waitedThrottledMs = Math.round(sent.waitedThrottledMs)
      const written = runs.addCalls.run(this.#database, { runId, ...sent, waitedThrottledMs })
      await written.catch((error: unknown) => {
        this.#log.debug({ runId, err: error }, 'sent calls are not written yet')
        this.add(runId, sent)
      })
    }
  }
}

/** What calls have cost before the first one. */
export function noCallStats(): CallStats {
  return { calls: 0, retries: 0, waitedMs: 0, waitedThrottledMs: 0, serviceMs: 0 }
}

/** The counts of one commit before its records are compared: what calls and waiting have cost since the last one. */
export function countsSince(counted: CallStats, stats: CallStats, databaseMs: number): Counts {
  const counts = { ...noCounts(), databaseMs: Math.round(databaseMs), cpuMs: takeCpuMs() }
  for (const name of Object.keys(stats) as (keyof CallStats)[])
    counts[name] = Math.round(stats[name] - counted[name])
  return counts
}

let takenAt = process.cpuUsage()

/** Milliseconds of CPU that this process used since the last call: each commit counts what led to it. */
function takeCpuMs(): number {
  const { user, system } = process.cpuUsage(takenAt)
  takenAt = process.cpuUsage()
  return Math.round((user + system) / 1000)
}
