import pRetry from 'p-retry'
import { daysNeverDue, nextTimes } from '../../base/cron.ts'
import type { Schedule } from '../../base/cron.ts'
import type { Database } from '../database/pool.ts'
import * as definitions from '../database/statements/definitions.ts'
import * as statements from '../database/statements/schedule.ts'
import type { JobQueue } from './queue.ts'

/** Also the name of the job it brings: BullMQ types a scheduler's id as a job name. */
export const NIGHTLY = 'start-nightly-run'

/** Which jobs of it stay in the queue. */
const KEPT = { removeOnComplete: true, removeOnFail: 100 }

/** How many due times are stored in advance: if all workers are down, so many missed nights are known. */
const TIMES_AHEAD = 31

/** Reads the nightly schedule that holds for all workers: the one that a person set or removed, else that of the settings. */
export async function currentSchedule(database: Database, settings: Schedule) {
  const set = await statements.read.first(database)
  const cron = set?.cron ?? settings.cron
  const isRemoved = set?.isRemoved ?? false
  return {
    cron: isRemoved ? null : cron,
    /** The expression that was removed, and can be restored. */
    removedCron: isRemoved ? cron : null,
    timeZone: set?.timeZone ?? settings.timeZone,
    by: set?.by ?? null,
    setAt: set?.setAt ?? null,
  }
}

/**
 * Writes the current nightly schedule, and when it is due, to PostgreSQL, so that a missed run is reported.
 * @returns the schedule; null where it was removed
 */
export async function noteSchedule(
  database: Database,
  settings: Schedule & { readonly nightlyLateAfterMs: number },
): Promise<Schedule | null> {
  const { cron, timeZone } = await currentSchedule(database, settings)
  const schedule = cron === null ? null : { cron, timeZone }
  await definitions.setSchedule.run(database, {
    schedule: schedule && `${cron} ${timeZone}`,
    timeZone,
    days: schedule ? daysNeverDue(schedule.cron) : [],
    dueTimes: schedule ? nextTimes(schedule, TIMES_AHEAD).map((due) => due.toISOString()) : [],
    lateAfterS: settings.nightlyLateAfterMs / 1000,
  })
  return schedule
}

/**
 * Registers the nightly schedule, unless it is registered already and the job of its next run is in the queue. Safe from many
 * processes at once.
 * @param schedule null removes it from the queue
 */
export async function registerSchedule(queue: JobQueue, schedule: Schedule | null): Promise<void> {
  if (schedule === null) {
    await queue.bull.requests.removeJobScheduler(NIGHTLY)
    return
  }
  const { cron, timeZone } = schedule
  // Two that register at once on PostgreSQL as queue make one fail; what stays is right.
  await pRetry(
    async () => {
      const found = await queue.bull.requests.getJobScheduler(NIGHTLY)
      const isSame = found?.pattern === cron && found.tz === timeZone
      if (isSame && (await hasJob(queue, found.next))) return
      await queue.bull.requests.upsertJobScheduler(
        NIGHTLY,
        { pattern: cron, tz: timeZone },
        {
          name: NIGHTLY,
          data: {},
          // Each night is a trace of its own: the job before, which brings the next one, must not hand on its trace.
          opts: { ...KEPT, telemetry: { omitContext: true } },
        },
      )
    },
    { retries: 4, minTimeout: 50, randomize: true },
  )
}

/**
 * Whether the job of a run is in the queue and not finished. One that is overdue is kept: the first worker starts that run.
 * Where BullMQ could not add the next job, the schedule is still registered and has none.
 */
async function hasJob(queue: JobQueue, dueMs: number | undefined): Promise<boolean> {
  const state = await queue.bull.requests.getJobState(`repeat:${NIGHTLY}:${dueMs}`)
  return !['unknown', 'completed', 'failed'].includes(state)
}

/**
 * Enqueues the nightly run that was due while a user paused the calls, after the pause has ended. Safe from many processes at
 * once: the job has the ID and the time of the night, and these identify its run.
 */
export async function makeUpForPausedNight(database: Database, queue: JobQueue): Promise<void> {
  const night = await statements.pausedNight.first(database)
  if (night === undefined) return
  const timestamp = night.dueAt.getTime()
  const opts = { jobId: `${NIGHTLY}-${timestamp}`, timestamp, ...KEPT }
  await queue.bull.requests.add(NIGHTLY, {}, opts)
}

/** When the next nightly run is due; null where none is registered. */
export async function nextNightly(queue: JobQueue): Promise<Date | null> {
  const found = await queue.bull.requests.getJobScheduler(NIGHTLY)
  return found?.next === undefined ? null : new Date(found.next)
}
