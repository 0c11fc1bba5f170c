import pRetry from 'p-retry'
import type { JobQueue } from './queue.ts'

/** Also the name of the job it brings: BullMQ types a scheduler's id as a job name. */
export const NIGHTLY = 'start-nightly-run'

export interface Schedule {
  /** Five or six fields. */
  readonly cron: string
  /** IANA name. */
  readonly timeZone: string
}

/** Registers the nightly schedule where it is not yet as wanted; safe from many processes at once. */
export async function registerSchedule(
  queue: JobQueue,
  { cron, timeZone }: Schedule,
): Promise<void> {
  // Two that register at once on PostgreSQL as queue make one fail; what stays is right.
  await pRetry(
    async () => {
      const found = await queue.bull.getJobScheduler(NIGHTLY)
      if (found?.pattern === cron && found.tz === timeZone && found.next !== undefined) return
      await queue.bull.upsertJobScheduler(
        NIGHTLY,
        { pattern: cron, tz: timeZone },
        {
          name: NIGHTLY,
          data: {},
          // Each night is a trace of its own: the job before, which brings the next one, must not hand on its trace.
          opts: { removeOnComplete: true, removeOnFail: 100, telemetry: { omitContext: true } },
        },
      )
    },
    { retries: 4, minTimeout: 50, randomize: true },
  )
}

/** Takes the nightly schedule out of the queue. */
export async function unregisterSchedule(queue: JobQueue): Promise<void> {
  await queue.bull.removeJobScheduler(NIGHTLY)
}

/** When the next nightly run is due; null where none is registered. */
export async function nextNightly(queue: JobQueue): Promise<Date | null> {
  const found = await queue.bull.getJobScheduler(NIGHTLY)
  return found?.next === undefined ? null : new Date(found.next)
}
