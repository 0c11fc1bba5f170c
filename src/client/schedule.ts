import { CronExpressionParser } from 'cron-parser'
import type { Database } from '../database/pool.ts'
import type { RowOf } from '../database/statement.ts'
import * as schedule from '../database/statements/schedule.ts'
import { UsageError } from '../errors.ts'
import { registerSchedule, unregisterSchedule } from '../queue/schedule.ts'
import { SETTINGS } from '../settings/table.ts'
import type { Settings } from '../settings/table.ts'
import { shown } from './collab-sync.ts'
import type { CollabSync, NightlySchedule, Parts } from './collab-sync.ts'

/** What a person set: a cron expression in a time zone, or nothing at all. */
export type SetSchedule = RowOf<typeof schedule.read>

/** The nightly schedule. */
export function scheduleOn(
  parts: Parts,
): Pick<CollabSync, 'getSchedule' | 'setSchedule' | 'removeSchedule'> {
  const { database, settings } = parts
  return {
    getSchedule: () => readSchedule(database, settings),
    setSchedule: ({ cron, timeZone }) =>
      changeSchedule(parts, {
        cron: checkedSetting('cron', cron, 'cron'),
        timeZone: timeZone === undefined ? null : checkedSetting('timeZone', timeZone, 'timeZone'),
      }),
    removeSchedule: () => changeSchedule(parts, { cron: null, timeZone: null }),
  }
}

/** Reads the schedule and computes when it is due next, without opening the queue. */
export async function readSchedule(
  database: Database,
  settings: Settings,
): Promise<NightlySchedule> {
  const set = await schedule.read.first(database)
  const cron = set === undefined ? settings.cron : set.cron
  const timeZone = set?.timeZone ?? settings.timeZone
  if (cron === null) return { cron, timeZone, setBy: 'schedule remove', next: null }
  return {
    cron,
    timeZone,
    setBy: set === undefined ? 'settings' : 'schedule set',
    next: CronExpressionParser.parse(cron, { tz: timeZone }).next().toDate(),
  }
}

/**
 * Sets or removes the schedule for all workers, and registers that where the queue can be reached: elsewhere workers do it
 * within seconds.
 * @param to checked; without a time zone that of the settings holds
 */
export async function changeSchedule(
  { database, queue, settings, log }: Omit<Parts, 'trigger'>,
  to: SetSchedule,
): Promise<NightlySchedule> {
  await schedule.write.run(database, to)
  try {
    const timeZone = to.timeZone ?? settings.timeZone
    if (to.cron === null) await unregisterSchedule(queue)
    else await registerSchedule(queue, { cron: to.cron, timeZone })
  } catch (error) {
    log.warn({ err: error }, 'the queue cannot be reached; workers register the schedule')
  }
  return readSchedule(database, settings)
}

/**
 * Checks a value as the setting of that kind is checked.
 * @param name how the caller calls it
 * @throws UsageError naming it, with an example
 */
export function checkedSetting(member: 'cron' | 'timeZone', text: unknown, name: string): string {
  const { parse, example } = SETTINGS[member]
  const parsed = parse.safeParse(String(text))
  if (parsed.success) return parsed.data
  const complaint = parsed.error.issues[0]?.message
  throw new UsageError(`${name} ${complaint}, not ${shown(text)}. Example: "${example}"`)
}
