import * as z from 'zod'
import { isCronPattern, isEverDue, isTimeZone, isTooFrequent } from '../base/cron.ts'
import { text } from './check.ts'

const line = text.max(200, 'must not be longer than 200 characters')

export const cronPattern = line
  .refine(isCronPattern, {
    error:
      'must be a cron pattern of five fields (minute, hour, day, month, weekday), or six with seconds first, without H (no fixed time)',
    abort: true,
  })
  .refine(isEverDue, {
    error: 'must match a date that exists, because otherwise it is never due',
    abort: true,
  })
  .refine((cron) => !isTooFrequent(cron), 'must be due at most once a minute')

/** An IANA time zone. */
export const timeZone = line.refine(isTimeZone, 'must be an IANA time zone')

export const NewScheduleSchema = z
  .strictObject({
    cron: cronPattern
      .optional()
      .describe(
        'Five fields (minute, hour, day, month, weekday), or six with seconds first. If omitted, the current pattern, or the one that was removed.',
      ),
    timeZone: timeZone.optional().describe('IANA name. If omitted, the current zone.'),
  })
  .meta({ id: 'NewSchedule' })

export type NewSchedule = z.input<typeof NewScheduleSchema>

export const ScheduleSchema = z
  .object({
    cron: z.string().nullable().describe('Null if no nightly run is scheduled.'),
    removedCron: z
      .string()
      .nullable()
      .describe('The pattern that was removed and that setting the schedule without one restores.'),
    timeZone: z.string().describe('IANA name.'),
    setBy: z.enum(['settings', 'schedule set', 'schedule remove']),
    by: z
      .string()
      .nullable()
      .describe('The user who set or removed it; null for the schedule of the settings.'),
    setAt: z.date().nullable().describe('When it was set or removed.'),
    next: z.date().nullable(),
    registered: z
      .boolean()
      .nullable()
      .describe(
        'Whether it is registered in the queue; null if that was not checked, or the queue did not respond.',
      ),
  })
  .meta({ id: 'Schedule' })

export type NightlySchedule = z.output<typeof ScheduleSchema>
