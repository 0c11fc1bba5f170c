import { CronExpressionParser } from 'cron-parser'
import type { Database } from '../database/pool.ts'
import { readSetSchedule } from '../database/schedule.ts'
import type { Settings } from '../settings/table.ts'

/** The nightly schedule that holds, and who says so. */
export interface HeldSchedule {
  /** Null where a person removed it. */
  readonly cron: string | null
  readonly timeZone: string
  readonly setBy: 'settings' | 'schedule set' | 'schedule remove'
  /** Null where there is none. */
  readonly next: Date | null
}

/** Reads the schedule and computes when it is due next, without opening the queue. */
export async function readSchedule(database: Database, settings: Settings): Promise<HeldSchedule> {
  const set = await readSetSchedule(database)
  const cron = set === null ? settings.cron : set.cron
  const timeZone = set?.timeZone ?? settings.timeZone
  if (cron === null) return { cron, timeZone, setBy: 'schedule remove', next: null }
  return {
    cron,
    timeZone,
    setBy: set === null ? 'settings' : 'schedule set',
    next: CronExpressionParser.parse(cron, { tz: timeZone }).next().toDate(),
  }
}
