import { CronExpressionParser } from 'cron-parser'
import * as z from 'zod'
import { text } from './check.ts'

const line = text.max(200, 'must not be longer than 200 characters')

/** A pattern that BullMQ's job scheduler takes: it parses with the same library. */
export const cronPattern = line.refine(
  isCronPattern,
  'must be a cron pattern of five fields (minute, hour, day, month, weekday), or six with seconds first, without H (no fixed time)',
)

/** An IANA time zone. Bare offsets such as +02:00 are refused: the scheduler's library does not know them. */
export const timeZone = line.refine(isTimeZone, 'must be an IANA time zone')

export const NewScheduleSchema = z
  .strictObject({
    cron: cronPattern.describe(
      'Five fields (minute, hour, day, month, weekday), or six with seconds first.',
    ),
    timeZone: timeZone.optional().describe('IANA name; SYNC_TZ when left out.'),
  })
  .meta({ id: 'NewSchedule' })

export type NewSchedule = z.input<typeof NewScheduleSchema>

export const ScheduleSchema = z
  .object({
    cron: z.string().nullable().describe('Null where there is no nightly run.'),
    timeZone: z.string().describe('IANA name.'),
    setBy: z.enum(['settings', 'schedule set', 'schedule remove']),
    next: z.date().nullable(),
    registered: z
      .boolean()
      .nullable()
      .describe('Whether the queue holds it; null where it was not asked, or did not answer.'),
  })
  .meta({ id: 'Schedule' })

/** The nightly schedule that holds, and who says so; without `cron` where a person removed it. */
export type NightlySchedule = z.output<typeof ScheduleSchema>

function isCronPattern(pattern: string): boolean {
  // A minute of the library's own choice, and another one at each look.
  if (/(?<![A-Za-z])H(?![A-Za-z])/.test(pattern)) return false
  // The library fills up missing fields, so that `5` would mean every minute's fifth second.
  if (!pattern.startsWith('@') && ![5, 6].includes(pattern.split(/\s+/).length)) return false
  try {
    CronExpressionParser.parse(pattern)
    return true
  } catch {
    return false
  }
}

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
