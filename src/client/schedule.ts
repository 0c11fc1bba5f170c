import { nextDue } from '../base/cron.ts'
import { noteAction } from '../core/database/actions.ts'
import { transaction } from '../core/database/pool.ts'
import * as schedule from '../core/database/statements/schedule.ts'
import { checked } from '../schemas/check.ts'
import { NewScheduleSchema } from '../schemas/schedule.ts'
import type { NewSchedule, NightlySchedule } from '../schemas/schedule.ts'
import { inTime } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import {
  currentSchedule,
  nextNightly,
  noteSchedule,
  registerSchedule,
} from '../core/queue/schedule.ts'
import type { Parts } from './parts.ts'

const QUEUE_READ_MS = 1_000

export type ScheduleParts = Omit<Parts, 'trigger'>

/**
 * Sets the nightly schedule; without a cron expression, the current one or the one that was removed.
 * @throws UsageError for an invalid cron expression or time zone
 */
export async function setSchedule(
  parts: ScheduleParts,
  given: NewSchedule,
): Promise<NightlySchedule> {
  const { cron, timeZone } = checked(NewScheduleSchema, given)
  return changeSchedule(parts, { cron, timeZone, isRemoved: false })
}

/** Removes the nightly schedule, and keeps its cron expression and time zone for `setSchedule`. */
export async function removeSchedule(parts: ScheduleParts): Promise<NightlySchedule> {
  return changeSchedule(parts, { isRemoved: true })
}

/** Reads the schedule and computes the next nightly run. @param parts.queue for `registered`; it can be unreachable */
export async function readSchedule(
  parts: Pick<Parts, 'database' | 'settings'> & { readonly queue?: JobQueue },
): Promise<NightlySchedule> {
  const { database, settings, queue } = parts
  const current = await currentSchedule(database, settings)
  const { cron, timeZone, setAt } = current
  const registered = queue === undefined ? null : await isRegistered(queue)
  if (cron === null) return { ...current, registered, setBy: 'schedule remove', next: null }
  const setBy = setAt === null ? 'settings' : 'schedule set'
  return { ...current, registered, setBy, next: nextDue({ cron, timeZone }) }
}

async function isRegistered(queue: JobQueue): Promise<boolean | null> {
  try {
    return (await inTime(nextNightly(queue), QUEUE_READ_MS)) !== null
  } catch {
    return null
  }
}

/** Stores the schedule and registers it. If the queue is unreachable, workers register it later. */
async function changeSchedule(
  { database, queue, settings, log, by }: ScheduleParts,
  to: NewSchedule & { readonly isRemoved: boolean },
): Promise<NightlySchedule> {
  const current = await currentSchedule(database, settings)
  const cron = to.cron ?? current.cron ?? current.removedCron ?? settings.cron
  const { timeZone = current.timeZone, isRemoved } = to
  const target = `${cron} (${timeZone})`
  await transaction(database, async (client) => {
    if ((await schedule.write.run(client, { cron, timeZone, isRemoved })) > 0)
      await noteAction(client, by, isRemoved ? 'schedule_removed' : 'schedule_set', { target })
  })
  const noted = await noteSchedule(database, settings)
  try {
    await registerSchedule(queue, noted)
  } catch (error) {
    log.warn({ err: error }, 'the queue is unreachable; workers register the schedule later')
  }
  return readSchedule({ database, settings, queue })
}
