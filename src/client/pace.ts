import { UsageError } from '../base/errors.ts'
import { noteAction } from '../core/database/actions.ts'
import { transaction } from '../core/database/pool.ts'
import * as statements from '../core/database/statements/pace.ts'
import { readPace } from '../core/rate-limit/pace.ts'
import { checked } from '../schemas/check.ts'
import { time } from '../schemas/format.ts'
import { NewPaceSchema, NewPauseSchema, PAUSE_MAX_MS } from '../schemas/pace.ts'
import type { NewPace, NewPause, Pace } from '../schemas/pace.ts'
import type { Parts } from './parts.ts'

export type PaceParts = Pick<Parts, 'database' | 'settings' | 'by'>

/**
 * Checks a pace before it is set.
 * @throws UsageError for a pace that is not positive or above the lowest SYNC_RATE_LIMIT of the live processes
 */
export async function checkPace(
  { database, settings }: Pick<PaceParts, 'database' | 'settings'>,
  given: NewPace,
): Promise<NewPace> {
  const pace = checked(NewPaceSchema, given)
  const { lowestRateLimit } = await readPace(database)
  const limit = Math.min(lowestRateLimit ?? Infinity, settings.rateLimit ?? Infinity)
  if (pace.callsPerSecond !== null && pace.callsPerSecond > limit)
    throw new UsageError(
      `callsPerSecond must not be above SYNC_RATE_LIMIT, which is ${limit} calls a second.`,
    )
  return pace
}

/** Sets or removes the pace of all processes. @throws as {@link checkPace} */
export async function setPace(parts: PaceParts, given: NewPace): Promise<Pace> {
  const { database, by } = parts
  const { callsPerSecond } = await checkPace(parts, given)
  const target = callsPerSecond === null ? 'none' : `${callsPerSecond} calls a second`
  await transaction(database, async (client) => {
    if ((await statements.set.run(client, { callsPerSecond })) > 0)
      await noteAction(client, by, 'pace_set', { target })
  })
  return readPace(database)
}

/**
 * Pauses all calls to the service, or changes the end of the pause that lasts.
 * @throws UsageError for an end that is in the past or more than 24 hours away
 */
export async function pauseCalls({ database, by }: PaceParts, given: NewPause): Promise<Pace> {
  const { until: end, reason = null } = checked(NewPauseSchema, given)
  const until = new Date(end)
  const forMs = until.getTime() - Date.now()
  if (forMs <= 0) throw new UsageError(`until must be in the future; ${time(until)} is past.`)
  if (forMs > PAUSE_MAX_MS) throw new UsageError('A pause lasts at most 24 hours.')
  await transaction(database, async (client) => {
    await statements.pause.run(client, { forS: forMs / 1000, by, reason })
    await noteAction(client, by, 'calls_paused', { target: `until ${time(until)}`, reason })
  })
  return readPace(database)
}

/** Ends the pause of all calls. */
export async function resumeCalls({ database, by }: PaceParts): Promise<Pace> {
  await transaction(database, async (client) => {
    if ((await statements.resume.run(client)) > 0) await noteAction(client, by, 'calls_resumed', {})
  })
  return readPace(database)
}
