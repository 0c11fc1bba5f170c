import * as z from 'zod'
import { text } from './check.ts'

export const NewPaceSchema = z
  .strictObject({
    callsPerSecond: z
      .number('must be a number or null')
      .positive('must be above 0')
      .nullable()
      .describe(
        'Calls per second of all processes together, at most SYNC_RATE_LIMIT. Null removes the pace.',
      ),
  })
  .meta({ id: 'NewPace' })

export type NewPace = z.output<typeof NewPaceSchema>

/** A pause always ends, because a forgotten one would stop the sync for weeks. */
export const PAUSE_MAX_MS = 86_400_000

export const NewPauseSchema = z
  .strictObject({
    until: z.iso
      .datetime({
        offset: true,
        error: 'must be a time such as 2026-01-31T10:00:00Z or 2026-01-31T10:00:00+01:00',
      })
      .describe('When it ends: in the future, and within 24 hours.'),
    reason: text.max(1000).optional().describe('The reason; stored with the pause.'),
  })
  .meta({ id: 'NewPause' })

export type NewPause = z.output<typeof NewPauseSchema>

export const PaceSchema = z
  .object({
    callsPerSecond: z.number().nullable().describe('The pace that a user set; null if none.'),
    setAt: z.date().nullable().describe('When it was set or removed.'),
    setBy: z.string().nullable().describe('The user who set or removed it.'),
    lowestRateLimit: z
      .number()
      .nullable()
      .describe('The lowest SYNC_RATE_LIMIT of live workers. It applies if the pace is higher.'),
    pause: z
      .object({
        since: z.date(),
        until: z.date(),
        by: z.string().describe('The user who ordered it.'),
        reason: z.string().nullable(),
      })
      .nullable()
      .describe('The pause of all calls that lasts; null if none.'),
  })
  .meta({ id: 'Pace', description: 'How fast all processes call the service.' })

export type Pace = z.output<typeof PaceSchema>
