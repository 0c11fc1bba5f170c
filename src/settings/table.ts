import type * as z from 'zod'
import { DATABASE_ROWS, QUEUE_ROWS, SERVICE_ROWS } from './connection-rows.ts'
import { HTTP_ROWS, NOTIFY_ROWS, TELEMETRY_ROWS } from './operator-rows.ts'
import type { Setting, SettingGroup } from './setting.ts'
import { CATALOG_ROWS, SYNC_ROWS } from './sync-rows.ts'

/** Every setting of collab-sync, by its member in `Settings`. `.env.example` is made from this table. */
export const SETTINGS = {
  ...SERVICE_ROWS,
  ...DATABASE_ROWS,
  ...QUEUE_ROWS,
  ...SYNC_ROWS,
  ...CATALOG_ROWS,
  ...HTTP_ROWS,
  ...TELEMETRY_ROWS,
  ...NOTIFY_ROWS,
}

type Table = typeof SETTINGS
type Member = keyof Table
type Defaulted = { [M in Member]: Table[M] extends { default: string } ? M : never }[Member]

/** What the settings say, in plain values. A member without a default is missing where it is unset. */
export type Settings = { [M in Defaulted]: z.output<Table[M]['parse']> } & {
  [M in Exclude<Member, Defaulted>]?: z.output<Table[M]['parse']>
}

/** The table's rows with their members, in its order. */
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
  'privacyEmail',
  'privacyRaw',
  'maxIds',
] as const satisfies readonly Member[]

/** The values of settings that must be equal in all workers, by their names; null where one is unset. */
export function sharedSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(SHARED.map((each) => [SETTINGS[each].name, settings[each] ?? null]))
}

const HEADINGS: Record<SettingGroup, string> = {
  service: 'The service',
  database: 'PostgreSQL',
  queue: 'The queue (BullMQ)',
  http: 'The HTTP side (collab-sync serve)',
  sync: 'How to sync',
  telemetry: 'Metrics and traces',
  notify: 'Telling people',
  catalog: 'The catalog, from a query of yours (otherwise: collab-sync catalog import FILE)',
}

const HEAD = String.raw`# Copy this file to .env and fill in the first settings. The environment wins over this file. A key, a token, a secret
# or an address may be in a file of its own, which NAME_FILE names in place of NAME.
#
# Write one NAME=value a line, in UTF-8 (collab-sync reads UTF-16 as well, docker compose does not). Where a value
# holds a blank or one of $ # " \, put single quotes around it: docker compose, a shell and the package dotenv then read the
# same as collab-sync. Otherwise they differ:
#   $NAME          docker compose and a shell replace it, within a value and between double quotes as well: the password
#                  a$bc$1d#e is a$1d#e to docker compose. collab-sync and dotenv keep it, because passwords hold $.
#   a#b            dotenv ends the value before the #. For the others a comment begins after a blank.
#   "\" \\ \$"     are one character each, but not for dotenv. "\n" and "\r" are line ends, but not for a shell.
#   NAME = a b     and NAME: a b are not for a shell.
# A command that finds a line that cannot be read names its number and ends with exit code 2; dotenv skips the line.`

/** The text of `.env.example`: every setting with its meaning; what must be set is not commented out. */
export function envExample(): string {
  const groups = Object.entries(HEADINGS).map(([group, heading]) => {
    const settings = SETTING_LIST.filter(({ setting }) => setting.group === group)
    return [`# --- ${heading} ---`, ...settings.map(({ setting }) => entry(setting))].join('\n\n')
  })
  return [HEAD, ...groups, ''].join('\n\n').trimEnd() + '\n'
}

function entry(setting: Setting): string {
  const mark = NOT_COMMENTED_OUT.has(setting.name) ? '' : '# '
  const fallback = setting.default === undefined ? '' : ` Default: ${setting.default}`
  const value = quoted(setting.default ?? setting.example ?? '')
  return `# ${setting.meaning}${fallback}\n${mark}${setting.name}=${value}`
}

const NOT_COMMENTED_OUT = new Set(['COLLAB_API_URL', 'COLLAB_API_KEY', 'COLLAB_AUTH_TOKEN'])

function quoted(value: string): string {
  return /\s/.test(value) && !value.startsWith('"') ? `"${value}"` : value
}
