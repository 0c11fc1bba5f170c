import type { NightlySchedule } from '../../client/collab-sync.ts'
import { changeSchedule, checkedSetting, readSchedule } from '../../client/schedule.ts'
import type { SetSchedule } from '../../client/schedule.ts'
import { time } from '../../format.ts'
import { nextNightly } from '../../queue/schedule.ts'
import { readSettings } from '../../settings/settings.ts'
import { EXIT } from '../exit.ts'
import { facts, print, printJson } from '../output.ts'
import { quietLog, withQueue } from '../with-store.ts'

interface Json {
  json?: boolean
}

/** `collab-sync schedule show`. */
export async function scheduleShow({ json }: Json): Promise<number> {
  return change(json, null)
}

/**
 * `collab-sync schedule set CRON`: holds for all workers, in place of SYNC_CRON and SYNC_TZ.
 * @param fields of the pattern; five words where the shell was not asked to take they are one
 */
export async function scheduleSet(
  fields: string[],
  { tz, json }: Json & { tz?: string },
): Promise<number> {
  const cron = checkedSetting('cron', fields.join(' '), 'CRON')
  return change(json, {
    cron,
    timeZone: tz === undefined ? null : checkedSetting('timeZone', tz, '--tz'),
  })
}

/** `collab-sync schedule remove`: no nightly run until one is set again. */
export async function scheduleRemove({ json }: Json): Promise<number> {
  return change(json, { cron: null, timeZone: null })
}

async function change(json: boolean | undefined, to: SetSchedule | null): Promise<number> {
  const settings = readSettings(process.env, { need: ['database', 'queue'] })
  const log = quietLog(settings)
  const opening = { settings, log, name: 'schedule' }
  return withQueue(opening, async ({ database }, queue) => {
    const schedule =
      to === null
        ? await readSchedule(database, settings)
        : await changeSchedule({ database, queue, settings, log }, to)
    const registered = await nextNightly(queue)
    if (json) printJson({ ...schedule, registered: registered !== null })
    else print(describe(schedule, registered))
    return EXIT.done
  })
}

function describe(schedule: NightlySchedule, registered: Date | null): string {
  if (schedule.cron === null) {
    return 'There is no nightly run: it was removed. Set one with: collab-sync schedule set "0 2 * * *"'
  }
  const source =
    schedule.setBy === 'settings'
      ? 'the settings SYNC_CRON and SYNC_TZ'
      : 'a person, with: collab-sync schedule set'
  return facts([
    ['nightly', `${schedule.cron} (${schedule.timeZone})`],
    ['set by', source],
    ['next', schedule.next === null ? 'never' : time(schedule.next)],
    [
      'queue',
      registered === null
        ? 'not registered yet: a worker does so when it starts (collab-sync worker)'
        : 'registered; the first worker that is alive then starts the run',
    ],
  ])
}
