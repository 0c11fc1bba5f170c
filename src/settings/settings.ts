import { isIPv4 } from 'node:net'
import { UsageError } from '../base/errors.ts'
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
  if (need.includes('service')) faults.push(...serviceFaults(settings, given))
  // Workers and `serve` notify.
  if (need.includes('service') || need.includes('http')) faults.push(...notifyFaults(settings))
  faults.push(...budgetFaults(settings), ...catalogFaults(given, need))
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
  if (group === 'sync' || group === 'telemetry' || group === 'notify' || group === 'catalog')
    return true
  // It allows plain addresses in NOTIFY_URL too.
  if (setting === SETTINGS.allowHttp && need.includes('http')) return true
  return need.includes(group)
}

function serviceFaults(settings: Partial<Settings>, given: Environment): string[] {
  const { authToken, authTokenFile, collabApiUrl, allowHttp, apiKeyHeader, authTokenHeader } =
    SETTINGS
  const faults: string[] = []
  if (given[authToken.name] !== undefined && given[authTokenFile.name] !== undefined)
    faults.push(`${authToken.name} and ${authTokenFile.name} are both set: keep one of them.`)
  if (given[authToken.name] === undefined && given[authTokenFile.name] === undefined)
    faults.push(fault(authToken, `is not set, and neither is ${authTokenFile.name}`))
  const url = settings.collabApiUrl
  if (url?.startsWith('http:') && !settings.allowHttp && !isThisMachine(new URL(url).hostname))
    faults.push(
      fault(
        collabApiUrl,
        `must start with https:// (or set ${allowHttp.name}=1: key and token then cross the network in the clear)`,
      ),
    )
  const names = [settings.apiKeyHeader, settings.authTokenHeader].map((name) => name?.toLowerCase())
  if (names[0] !== undefined && names[0] === names[1])
    faults.push(fault(authTokenHeader, `must be another header than that of ${apiKeyHeader.name}`))
  return faults
}

function notifyFaults({ notifyUrls = [], notifySecret, allowHttp }: Settings): string[] {
  const faults: string[] = []
  const isOpen = (url: string) => url.startsWith('http:') && !isThisMachine(new URL(url).hostname)
  if (!allowHttp && notifyUrls.some(({ url }) => isOpen(url)))
    faults.push(
      fault(
        SETTINGS.notifyUrls,
        `must start with https:// beyond this machine (or set ${SETTINGS.allowHttp.name}=1)`,
      ),
    )
  if (notifySecret === undefined && notifyUrls.some(({ shape }) => shape === 'json'))
    faults.push(
      fault(
        SETTINGS.notifySecret,
        `is not set, but ${SETTINGS.notifyUrls.name} has a receiver that is to check who sends`,
      ),
    )
  return faults
}

/** What continuous refresh may send is a part of what all may send. */
function budgetFaults({ rateLimit, refreshBudget }: Settings): string[] {
  if (rateLimit === undefined || refreshBudget === undefined || refreshBudget <= rateLimit)
    return []
  const { refreshBudget: budget, rateLimit: limit } = SETTINGS
  return [
    `${budget.name} is ${refreshBudget} calls a second and ${limit.name} ${rateLimit}: the budget is a part of the limit, and must not be above it.`,
  ]
}

function catalogFaults(given: Environment, need: readonly SettingNeed[]): string[] {
  const { catalogSql, catalogDatabaseUrl, databaseUrl } = SETTINGS
  const hasQuery = given[catalogSql.name] !== undefined
  const hasDatabase = given[catalogDatabaseUrl.name] !== undefined
  if (hasDatabase && !hasQuery && !need.includes('catalog'))
    return [fault(catalogSql, `is not set, but ${catalogDatabaseUrl.name} is`)]
  // The embedded PostgreSQL holds nothing but our own tables, so there is nothing to ask there.
  if (hasQuery && !hasDatabase && given[databaseUrl.name] === undefined)
    return [
      fault(
        catalogDatabaseUrl,
        `is not set, but ${catalogSql.name} is, and there is no DATABASE_URL`,
      ),
    ]
  return []
}

function isThisMachine(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  )
}

function fault(setting: Setting, complaint: string): string {
  return `${setting.name} ${complaint}. Example: ${setting.name}=${setting.example ?? setting.default}`
}

function shown(setting: Setting, text: string): string {
  // What looks like an address or a header may hold a credential in a place that only its owner knows.
  if (setting.secret || /[@:=?]/.test(text)) return ''
  return `, not ${JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)}`
}
