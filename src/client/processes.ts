import type { Database } from '../core/database/pool.ts'
import { DEAD_AFTER_S } from '../core/database/claims.ts'
import * as schedule from '../core/database/statements/schedule.ts'
import * as workers from '../core/database/statements/workers.ts'
import { ProcessSchema } from '../schemas/process.ts'
import type { Process } from '../schemas/process.ts'
import type { ConfiguredSetting } from '../settings/setting.ts'

/** Reads the live processes, workers first. The schedule that a user stored applies in place of their settings. */
export async function readProcesses(database: Database): Promise<Process[]> {
  const [rows, set] = await Promise.all([
    workers.list.all(database, { deadAfterS: DEAD_AFTER_S }),
    schedule.read.first(database),
  ])
  const stored: Readonly<Record<string, string | null>> = set
    ? { SYNC_CRON: set.isRemoved ? null : set.cron, SYNC_TZ: set.timeZone }
    : {}
  return rows.map(({ configuration, ...row }) => {
    const settings = ((configuration ?? []) as ConfiguredSetting[]).map((setting) => {
      const value = stored[setting.name]
      return value === undefined
        ? setting
        : { ...setting, value, origin: 'stored', isHidden: false }
    })
    return ProcessSchema.parse({ ...row, settings })
  })
}
