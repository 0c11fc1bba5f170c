import { join } from 'node:path'
import type { Environment } from './environment.ts'
import { readSettings } from './settings.ts'
import type { ServiceSettings, SettingNeed } from './settings.ts'
import { SETTING_LIST } from './table.ts'
import type { Settings } from './table.ts'

/** Settings that apply to the demo, besides those of the HTTP side; all others are ignored. */
const TAKEN_OVER = ['COLLAB_SYNC_HOME', 'LOG_LEVEL']

/**
 * The settings of the demo: an embedded PostgreSQL in the directory `demo` of COLLAB_SYNC_HOME. Other settings are ignored,
 * so that the demo neither fails because of a wrong one nor writes to a real database.
 * @param options.service the stand-in, for the command `demo`
 * @throws UsageError if a setting that applies is not valid
 */
export function readDemoSettings(
  environment: Environment,
  options: {
    need: readonly SettingNeed[]
    service?: { url: string; apiKey: string; authToken: string }
  },
): Settings & ServiceSettings {
  const untaken = SETTING_LIST.map(({ setting }) => setting)
    .filter(({ name, group }) => group !== 'http' && !TAKEN_OVER.includes(name))
    .flatMap(({ name }) => [name, `${name}_FILE`])
  const { need, service } = options
  const settings = readSettings(
    {
      ...environment,
      // An empty setting counts as unset and takes precedence over the file .env.
      ...Object.fromEntries(untaken.map((name) => [name, ''])),
      ...(service && {
        COLLAB_API_URL: service.url,
        COLLAB_API_KEY: service.apiKey,
        COLLAB_AUTH_TOKEN: service.authToken,
      }),
    },
    { need },
  ) as Settings & ServiceSettings
  return { ...settings, home: join(settings.home, 'demo') }
}
