import { pauseCalls, resumeCalls, setPace } from '../../client/pace.ts'
import type { PaceParts } from '../../client/pace.ts'
import { processUser } from '../../base/process-user.ts'
import { UsageError } from '../../base/errors.ts'
import { checked } from '../../schemas/check.ts'
import { factsOfPace } from '../../schemas/columns.ts'
import { NewPauseSchema } from '../../schemas/pace.ts'
import type { Pace } from '../../schemas/pace.ts'
import { callRate, duration } from '../../settings/parse.ts'
import { facts, print, printJson } from '../output.ts'
import { withTables } from '../with-store.ts'

interface Json {
  json?: boolean
}

/** `collab-sync pace CALLS`. */
export async function pace(calls: string, options: Json): Promise<number> {
  const callsPerSecond = calls === 'none' ? null : checked(callRate, calls, 'CALLS')
  return onPace(options, (parts) => setPace(parts, { callsPerSecond }))
}

/** `collab-sync pause`. */
export async function pause(
  options: Json & { for?: string; until?: string; reason?: string },
): Promise<number> {
  const { for: length, until: end, reason } = options
  if (length === undefined && end === undefined)
    throw new UsageError('pause needs --for TIME or --until TIME.')
  const forMs = checked(duration.optional(), length, '--for')
  const given = forMs === undefined ? end : new Date(Date.now() + forMs).toISOString()
  const until = checked(NewPauseSchema.shape.until, given, '--until')
  return onPace(options, (parts) => pauseCalls(parts, { until, reason }))
}

/** `collab-sync resume`. */
export async function resume(options: Json): Promise<number> {
  return onPace(options, resumeCalls)
}

async function onPace({ json }: Json, work: (parts: PaceParts) => Promise<Pace>): Promise<number> {
  return withTables({ name: 'pace' }, async ({ database }, { settings }) => {
    const done = await work({ database, settings, by: processUser() })
    if (json) printJson(done)
    else print(facts(factsOfPace(done)))
  })
}
