import { UsageError } from '../base/errors.ts'
import { isThisMachine } from '../base/this-machine.ts'
import { readTexts } from './environment.ts'
import type { Environment, Texts } from './environment.ts'
import { SETTING_LIST, SETTINGS } from './table.ts'
import type { ConfiguredSetting, Setting, SettingFault, SettingGroup } from './setting.ts'
import type { Settings } from './table.ts'

/** The groups of settings that a command needs. `catalog` makes CATALOG_SQL required. */
export type SettingNeed = (typeof NEEDS)[number]

const NEEDS = ['service', 'database', 'queue', 'http', 'catalog'] as const satisfies SettingGroup[]

/** What `need: ['service']` adds to {@link Settings}. */
export type ServiceSettings = Required<Pick<Settings, 'collabApiUrl' | 'apiKey' | 'authToken'>>

/**
 * Reads the settings from the environment and the file `.env`; the environment wins. An empty setting counts as unset, as
 * compose files pass it. A file named in NAME_FILE may contain the secret NAME.
 * Settings of `service`, `database`, `queue` and `http` are checked only if the command needs them, the others always.
 * @param options.need what the command uses, as a literal: the type of the result follows it
 * @param options.directory that of `.env`; default: the working directory
 * @throws UsageError with one line for every fault: the setting, what is wrong with it, an example
 */
export function readSettings<Need extends SettingNeed>(
  environment: Environment,
  options: { need: readonly Need[]; directory?: string },
): 'service' extends Need ? Settings & ServiceSettings : Settings {
  const { settings, faults } = examineSettings(environment, options)
  if (faults.length > 0)
    throw new UsageError(
      faults.map(({ problem, fix }) => [problem, fix].join(' ').trim()).join('\n'),
    )
  return settings as Settings & ServiceSettings
}

/**
 * Reads the settings as {@link readSettings} does, and returns every fault instead of throwing.
 * @returns `settings` with the default of each faulty setting, which is missing if it has none; `faults`, one for each setting
 * @throws UsageError if `.env` cannot be read
 */
export function examineSettings(
  environment: Environment,
  options: { need: readonly SettingNeed[]; directory?: string },
): { settings: Settings; faults: SettingFault[] } {
  const { need } = options
  const texts = readTexts(environment, options.directory ?? process.cwd(), (setting) =>
    isRead(setting, need),
  )
  const { given, faults } = texts
  const values: Record<string, unknown> = {}
  for (const { member, setting } of SETTING_LIST) {
    const text = isRead(setting, need) ? given[setting.name] : undefined
    if (setting.default !== undefined) values[member] = setting.parse.parse(setting.default)
    if (text === undefined) {
      const orFile = setting.secret ? `, and neither is ${setting.name}_FILE` : ''
      if (setting.required && need.some((group) => group === setting.group))
        faults.push(fault(setting, `is not set${orFile}`))
      continue
    }
    const parsed = setting.parse.safeParse(text)
    if (parsed.success) values[member] = parsed.data
    else {
      const file = given[`${setting.name}_FILE`] ? `(from ${setting.name}_FILE) ` : ''
      const complaint = parsed.error.issues[0]?.message
      faults.push(fault(setting, `${file}${complaint}${shown(setting, text)}`))
    }
  }
  values['configuration'] = configurationOf(texts, need)
  const settings = values as unknown as Settings
  faults.push(...faultsTogether(settings, given, need))
  // The first fault of a setting causes its others: a secret whose file cannot be read is also not set.
  const isFirst = ({ setting }: SettingFault, index: number) =>
    setting === null || faults.findIndex((each) => each.setting === setting) === index
  return { settings, faults: faults.filter(isFirst) }
}

/** The settings that a command needs, with their origins. Secrets are only `set`. */
function configurationOf(
  { given, originOf, hidden }: Texts,
  need: readonly SettingNeed[],
): ConfiguredSetting[] {
  return SETTING_LIST.filter(({ setting }) => isRead(setting, need)).map(({ setting }) => {
    const { name, secret, default: byDefault = null } = setting
    const text = given[name]
    return {
      name,
      value: text === undefined ? byDefault : secret ? 'set' : text,
      origin: originOf(name),
      isHidden: hidden.has(name),
    }
  })
}

function isRead(setting: Setting, need: readonly SettingNeed[]): boolean {
  const { group } = setting
  if (group === 'catalog' || !NEEDS.some((each) => each === group)) return true
  // It also applies to NOTIFY_URL.
  if (setting === SETTINGS.allowHttp && need.includes('http')) return true
  return need.some((each) => each === group)
}

/** Faults of settings that contradict or need one another. */
function faultsTogether(
  settings: Partial<Settings>,
  given: Environment,
  need: readonly SettingNeed[],
): SettingFault[] {
  const { httpBasePath, httpPublicUrl } = settings
  const { allowHttp, notifyUrls = [], refreshBudget = 0, rateLimit = Infinity } = settings
  const [keyHeader, tokenHeader] = [settings.apiKeyHeader, settings.authTokenHeader]
  const isSet = (member: keyof typeof SETTINGS) => given[SETTINGS[member].name] !== undefined
  const isRefused = (url?: string) => url !== undefined && !allowHttp && isWithoutTls(url)
  const callsService = need.includes('service')
  // Workers and `serve` notify.
  const notifies = callsService || need.includes('http')
  const rules: readonly [isBroken: boolean, setting: Setting, complaint: string][] = [
    [
      callsService && isRefused(settings.collabApiUrl),
      SETTINGS.collabApiUrl,
      'must start with https:// (or set COLLAB_ALLOW_HTTP=1: key and token then cross the network unencrypted)',
    ],
    [
      callsService && !!keyHeader && keyHeader.toLowerCase() === tokenHeader?.toLowerCase(),
      SETTINGS.authTokenHeader,
      'must differ from COLLAB_API_KEY_HEADER',
    ],
    [
      notifies && notifyUrls.some(({ url }) => isRefused(url)),
      SETTINGS.notifyUrls,
      'must start with https:// unless the receiver is on this machine (or set COLLAB_ALLOW_HTTP=1)',
    ],
    [
      notifies && !settings.notifySecret && notifyUrls.some(({ shape }) => shape === 'json'),
      SETTINGS.notifySecret,
      'is not set, but NOTIFY_URL has a receiver that checks signatures',
    ],
    [
      need.includes('http') &&
        !!httpPublicUrl &&
        new URL(httpPublicUrl).pathname !== (httpBasePath || '/'),
      SETTINGS.httpPublicUrl,
      'must have the path of HTTP_BASE_PATH, and none without it',
    ],
    [
      need.includes('http') && settings.httpToken === SETTINGS.httpToken.example,
      SETTINGS.httpToken,
      'is the example from the documentation, which is public',
    ],
    [
      isSet('catalogDatabaseUrl') && !isSet('catalogSql') && !need.includes('catalog'),
      SETTINGS.catalogSql,
      'is not set, but CATALOG_DATABASE_URL is',
    ],
    // The embedded PostgreSQL contains only our own tables.
    [
      isSet('catalogSql') && !isSet('catalogDatabaseUrl') && !isSet('databaseUrl'),
      SETTINGS.catalogDatabaseUrl,
      'is not set, but CATALOG_SQL is, and there is no DATABASE_URL',
    ],
  ]
  const faults = rules.flatMap(([isBroken, ...rest]) => (isBroken ? [fault(...rest)] : []))
  if (refreshBudget > rateLimit)
    faults.push({
      setting: SETTINGS.refreshBudget,
      problem: `REFRESH_BUDGET is ${refreshBudget} calls a second, more than SYNC_RATE_LIMIT (${rateLimit}). The budget is a part of the limit.`,
    })
  return faults
}

/** True for http:// to another machine. */
function isWithoutTls(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isThisMachine(hostname)
}

function fault(setting: Setting, complaint: string): SettingFault {
  const { name, example, command } = setting
  const fix =
    command === undefined
      ? `Example: ${name}=${example ?? setting.default}`
      : `Create one with: ${command}`
  return { setting, problem: `${name} ${complaint}.`, fix }
}

function shown(setting: Setting, text: string): string {
  // An address or a header may contain a credential.
  if (setting.secret || /[@:=?]/.test(text)) return ''
  return `, not ${JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text)}`
}
