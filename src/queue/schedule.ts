import { CronExpressionParser } from 'cron-parser'
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

/**
 * Days of the week (1 Monday to 7 Sunday) on which a schedule never starts a run. None where it goes by days of the month
 * too: cron takes either for enough.
 * @param cron null where there is no schedule, and nothing is known of when runs start
 */
export function daysWithoutRun(cron: string | null): number[] {
  if (cron === null) return []
  const { dayOfWeek, dayOfMonth } = CronExpressionParser.parse(cron).fields
  if (!dayOfMonth.isWildcard) return []
  // 0 and 7 are both Sunday; `5L` is the last Friday of a month.
  const days = new Set(dayOfWeek.values.map((day) => parseInt(String(day), 10) % 7))
  return [1, 2, 3, 4, 5, 6, 7].filter((day) => !days.has(day % 7))
}

/** Registers the nightly schedule where it is not yet as wanted; safe from many processes at once. */
export async function registerSchedule(
  queue: JobQueue,
  { cron, timeZone }: Schedule,
): Promise<void> {
  // Two that register at once on PostgreSQL as queue make one fail; what stays is right.
  await pRetry(
    async () => {
      const found = await queue.bull.requests.getJobScheduler(NIGHTLY)
      if (found?.pattern === cron && found.tz === timeZone && found.next !== undefined) return
      await queue.bull.requests.upsertJobScheduler(
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
  await queue.bull.requests.removeJobScheduler(NIGHTLY)
}

/** When the next nightly run is due; null where none is registered. */
export async function nextNightly(queue: JobQueue): Promise<Date | null> {
  const found = await queue.bull.requests.getJobScheduler(NIGHTLY)
  return found?.next === undefined ? null : new Date(found.next)
}
