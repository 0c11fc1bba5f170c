import type { RepeatOptions } from 'bullmq'
import { nextDue } from '../cron.ts'

/**
 * BullMQ's setting `repeatStrategy`: when a job scheduler is due after a time, in milliseconds since 1970. A queue calls it
 * when it adds a scheduler, a worker when it takes a job of one; both need it, or they use BullMQ's own cron parser.
 * @throws Error for a pattern or a time zone that is not valid
 */
export function repeatStrategy(afterMs: number, { pattern = '', tz = 'UTC' }: RepeatOptions) {
  return nextDue({ cron: pattern, timeZone: tz }, new Date(afterMs)).getTime()
}
