import type * as z from 'zod'
import { DATABASE_ROWS, QUEUE_ROWS, SERVICE_ROWS } from './connection-rows.ts'
import { HTTP_ROWS, NOTIFY_ROWS, TELEMETRY_ROWS } from './operator-rows.ts'
import type { ConfiguredSetting, Setting } from './setting.ts'
import { CATALOG_ROWS, PRIVACY_ROWS, REFRESH_ROWS, REPORT_ROWS, SYNC_ROWS } from './sync-rows.ts'

/** Every setting of collab-sync, by its member in `Settings`. `npm run generate` writes `docs/SETTINGS.md` from this table. */
export const SETTINGS = {
  ...SERVICE_ROWS,
  ...DATABASE_ROWS,
  ...QUEUE_ROWS,
  ...SYNC_ROWS,
  ...REFRESH_ROWS,
  ...REPORT_ROWS,
  ...PRIVACY_ROWS,
  ...CATALOG_ROWS,
  ...HTTP_ROWS,
  ...TELEMETRY_ROWS,
  ...NOTIFY_ROWS,
}

type Table = typeof SETTINGS
type Member = keyof Table
type Defaulted = { [M in Member]: Table[M] extends { default: string } ? M : never }[Member]

/** The parsed settings. An unset one without a default is missing. `configuration` has them as written. */
export type Settings = { readonly configuration: readonly ConfiguredSetting[] } & {
  [M in Defaulted]: z.output<Table[M]['parse']>
} & {
  [M in Exclude<Member, Defaulted>]?: z.output<Table[M]['parse']>
}

/** The rows of the table, in its order. */
export const SETTING_LIST: readonly { member: Member; setting: Setting }[] = (
  Object.keys(SETTINGS) as Member[]
).map((member) => ({ member, setting: SETTINGS[member] }))

/** Settings that must be equal in all workers; none is a secret. */
const SHARED = [
  'operations',
  'rateLimit',
  'refreshBudget',
  'shrinkLimit',
  'heldAcceptAfter',
  'cron',
  'timeZone',
  'nightlyLateAfterMs',
  'maxIds',
  'pruneOlderThanMs',
] as const satisfies readonly Member[]

/** The values of settings that must be equal in all workers, by their names; null where one is unset. */
export function sharedSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(SHARED.map((each) => [SETTINGS[each].name, settings[each] ?? null]))
}
