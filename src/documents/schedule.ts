import * as z from 'zod'
import { isCronPattern, isTimeZone, isTooFrequent } from '../base/cron.ts'
import { text } from './check.ts'

const line = text.max(200, 'must not be longer than 200 characters')

/** A pattern for the nightly run. */
export const cronPattern = line
  .refine(isCronPattern, {
    error:
      'must be a cron pattern of five fields (minute, hour, day, month, weekday), or six with seconds first, without H (no fixed time)',
    abort: true,
  })
  .refine((cron) => !isTooFrequent(cron), 'must be due at most once a minute')

/** An IANA time zone. */
export const timeZone = line.refine(isTimeZone, 'must be an IANA time zone')

export const NewScheduleSchema = z
  .strictObject({
    cron: cronPattern.describe(
      'Five fields (minute, hour, day, month, weekday), or six with seconds first.',
    ),
    timeZone: timeZone
      .optional()
      .describe('IANA name; when left out, the zone that is set, else SYNC_TZ.'),
  })
  .meta({ id: 'NewSchedule' })

export type NewSchedule = z.input<typeof NewScheduleSchema>

export const ScheduleSchema = z
  .object({
    cron: z.string().nullable().describe('Null where there is no nightly run.'),
    timeZone: z.string().describe('IANA name.'),
    setBy: z.enum(['settings', 'schedule set', 'schedule remove']),
    by: z.string().nullable().describe('Who set or removed it; null where the settings hold.'),
    setAt: z.date().nullable().describe('When that was.'),
    next: z.date().nullable(),
    registered: z
      .boolean()
      .nullable()
      .describe('Whether the queue holds it; null where it was not asked, or did not answer.'),
  })
  .meta({ id: 'Schedule' })

/** The nightly schedule that holds, and who says so; without `cron` where a person removed it. */
export type NightlySchedule = z.output<typeof ScheduleSchema>
