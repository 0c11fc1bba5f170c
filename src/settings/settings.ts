import { UsageError } from '../base/errors.ts'
import { isThisMachine } from '../base/this-machine.ts'
import { readTexts } from './environment.ts'
import type { Environment } from './environment.ts'
import { SETTING_LIST, SETTINGS } from './table.ts'
import type { Setting, SettingGroup } from './setting.ts'
import type { Settings } from './table.ts'

/** What a command needs of the settings. `catalog` makes CATALOG_SQL required. */
export type SettingNeed = Exclude<SettingGroup, 'sync' | 'telemetry' | 'notify'>

/** What `need: ['service']` promises beyond {@link Settings}; and one of `authToken`, `authTokenFile`. */
export type ServiceSettings = Required<Pick<Settings, 'collabApiUrl' | 'apiKey'>>

/**
 * Reads the settings from the environment and the file `.env`; the environment wins, and nothing is
 * written back to it. A setting that is empty counts as unset, as compose files pass it. Of a secret NAME, NAME_FILE may
 * say which file holds it.
 * Settings of `service`, `database` and `queue` are looked at only where they are needed, so that a
 * command is not stopped by what it does not use; those of `sync`, `catalog`, `telemetry`
 * and `notify` always.
 * @param options.need what the command uses, as a literal: the type of the answer follows it
 * @param options.directory where `.env` is; the working directory when left out
 * @throws UsageError with one line for every fault: the setting, what is wrong with it, an example
 */
export function readSettings<Need extends SettingNeed>(
  environment: Environment,
  options: { need: readonly Need[]; directory?: string },
): 'service' extends Need ? Settings & ServiceSettings : Settings {
  const need: readonly SettingNeed[] = options.need
  const { given, faults } = readTexts(environment, options.directory ?? process.cwd(), (setting) =>
    isRead(setting, need),
  )
  const values: Record<string, unknown> = {}
  for (const { member, setting } of SETTING_LIST) {
    const text = isRead(setting, need) ? given[setting.name] : undefined
    if (text === undefined) {
      if (setting.default !== undefined) values[member] = setting.parse.parse(setting.default)
      if (setting.required && need.some((group) => group === setting.group))
        faults.push(fault(setting, 'is not set'))
      continue
    }
    const parsed = setting.parse.safeParse(text)
    if (parsed.success) values[member] = parsed.data
    else faults.push(fault(setting, `${parsed.error.issues[0]?.message}${shown(setting, text)}`))
  }
  const settings = values as Settings & ServiceSettings
  faults.push(...faultsTogether(settings, given, need))
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  return settings
}

/** @throws UsageError where what lets somebody in is the example of our documents, which everybody knows */
export function requireOwnToken(settings: Settings): void {
  if (settings.httpToken === SETTINGS.httpToken.example)
    throw new UsageError(
      'HTTP_TOKEN is the example of the documents, which everybody knows: make one with openssl rand -hex 32.',
    )
}

function isRead(setting: Setting, need: readonly SettingNeed[]): boolean {
  const { group } = setting
  if (['sync', 'telemetry', 'notify', 'catalog'].includes(group)) return true
  // It allows plain addresses in NOTIFY_URL too.
  if (setting === SETTINGS.allowHttp && need.includes('http')) return true
  return need.some((each) => each === group)
}

/** The faults of settings that do not go together, or that need one another. */
function faultsTogether(
  settings: Partial<Settings>,
  given: Environment,
  need: readonly SettingNeed[],
): string[] {
  const { allowHttp, notifyUrls = [], refreshBudget = 0, rateLimit = Infinity } = settings
  const [keyHeader, tokenHeader] = [settings.apiKeyHeader, settings.authTokenHeader]
  const isSet = (member: keyof typeof SETTINGS) => given[SETTINGS[member].name] !== undefined
  const isRefused = (url?: string) => url !== undefined && !allowHttp && isWithoutTls(url)
  const callsService = need.includes('service')
  // Workers and `serve` notify.
  const notifies = callsService || need.includes('http')
  const rules: readonly [isBroken: boolean, setting: Setting, complaint: string][] = [
    [
      callsService && !isSet('authToken') && !isSet('authTokenFile'),
      SETTINGS.authToken,
      'is not set, and neither is COLLAB_AUTH_TOKEN_FILE',
    ],
    [
      callsService && isRefused(settings.collabApiUrl),
      SETTINGS.collabApiUrl,
      'must start with https:// (or set COLLAB_ALLOW_HTTP=1: key and token then cross the network in the clear)',
    ],
    [
      callsService && !!keyHeader && keyHeader.toLowerCase() === tokenHeader?.toLowerCase(),
      SETTINGS.authTokenHeader,
      'must be another header than that of COLLAB_API_KEY_HEADER',
    ],
    [
      notifies && notifyUrls.some(({ url }) => isRefused(url)),
      SETTINGS.notifyUrls,
      'must start with https:// beyond this machine (or set COLLAB_ALLOW_HTTP=1)',
    ],
    [
      notifies && !settings.notifySecret && notifyUrls.some(({ shape }) => shape === 'json'),
      SETTINGS.notifySecret,
      'is not set, but NOTIFY_URL has a receiver that is to check who sends',
    ],
    [
      isSet('catalogDatabaseUrl') && !isSet('catalogSql') && !need.includes('catalog'),
      SETTINGS.catalogSql,
      'is not set, but CATALOG_DATABASE_URL is',
    ],
    // The embedded PostgreSQL holds nothing but our own tables, so there is nothing to ask there.
    [
      isSet('catalogSql') && !isSet('catalogDatabaseUrl') && !isSet('databaseUrl'),
      SETTINGS.catalogDatabaseUrl,
      'is not set, but CATALOG_SQL is, and there is no DATABASE_URL',
    ],
  ]
  const faults = rules.flatMap(([isBroken, ...rest]) => (isBroken ? [fault(...rest)] : []))
  // What continuous refresh may send is a part of what all may send.
  if (refreshBudget > rateLimit)
    faults.push(
      `REFRESH_BUDGET is ${refreshBudget} calls a second and SYNC_RATE_LIMIT ${rateLimit}: the budget is a part of the limit, and must not be above it.`,
    )
  return faults
}

/** Whether an address leads to another machine without TLS. */
function isWithoutTls(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isThisMachine(hostname)
}

function fault(setting: Setting, complaint: string): string {
  return `${setting.name} ${complaint}. Example: ${setting.name}=${setting.example ?? setting.default}`
}

function shown(setting: Setting, text: string): string {
  // What looks like an address or a header may hold a credential in a place that only its owner knows.
  if (setting.secret || /[@:=?]/.test(text)) return ''
  return `, not ${JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)}`
}
