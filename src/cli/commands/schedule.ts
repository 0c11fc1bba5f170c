import { readSchedule, removeSchedule, setSchedule } from '../../client/schedule.ts'
import { checked } from '../../schemas/check.ts'
import { factsOfSchedule } from '../../schemas/columns.ts'
import { cronPattern, timeZone } from '../../schemas/schedule.ts'
import type { NightlySchedule } from '../../schemas/schedule.ts'
import { processUser } from '../../base/process-user.ts'
import { facts, print, printJson } from '../output.ts'
import { withQueue } from '../with-store.ts'

interface Json {
  json?: boolean
}

/** `collab-sync schedule show`. */
export async function scheduleShow({ json }: Json): Promise<number> {
  return onSchedule({ json }, readSchedule)
}

/** `collab-sync schedule set [PATTERN]`. @param fields of the pattern; several arguments if the user did not quote it */
export async function scheduleSet(
  fields: string[],
  { tz, json }: Json & { tz?: string },
): Promise<number> {
  const to = {
    cron: fields.length === 0 ? undefined : checked(cronPattern, fields.join(' '), 'PATTERN'),
    timeZone: checked(timeZone.optional(), tz, '--tz'),
  }
  return onSchedule({ json, creates: true }, (parts) => setSchedule(parts, to))
}

/** `collab-sync schedule remove`. */
export async function scheduleRemove({ json }: Json): Promise<number> {
  return onSchedule({ json }, removeSchedule)
}

async function onSchedule(
  { json, creates = false }: { json: boolean | undefined; creates?: boolean },
  work: (parts: Parameters<typeof removeSchedule>[0]) => Promise<NightlySchedule>,
): Promise<number> {
  return withQueue({ name: 'schedule', creates }, async ({ database }, queue, opening) => {
    const { settings, log } = opening
    const schedule = await work({ database, queue, settings, log, by: processUser() })
    if (json) return printJson(schedule)
    const registered = schedule.registered
      ? 'registered; a worker that is running at that time starts the run'
      : 'not registered yet; a worker registers it when it starts (collab-sync worker)'
    const last =
      schedule.cron === null
        ? (['to restore it', 'collab-sync schedule set'] as const)
        : (['queue', registered] as const)
    print(facts([...factsOfSchedule(schedule), last]))
  })
}
