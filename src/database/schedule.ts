import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** What a person set: a cron expression in a time zone, or nothing at all. */
export interface SetSchedule {
  readonly cron: string | null
  readonly timeZone: string | null
}

/** The nightly schedule as a person set it; null where nobody did and the settings hold. */
export async function readSetSchedule(database: Database): Promise<SetSchedule | null> {
  const { rows } = await database.query(sql('schedule/read'))
  return rows[0] === undefined ? null : { cron: rows[0].cron, timeZone: rows[0].time_zone }
}

/** Sets the nightly schedule for all workers; with null for both it is removed. */
export async function writeSetSchedule(database: Database, schedule: SetSchedule): Promise<void> {
  await database.query(sql('schedule/write'), [schedule.cron, schedule.timeZone])
}
