import type { Environment, ServiceSettings } from '../settings/settings.ts'
import { readSettings } from '../settings/settings.ts'
import { SETTING_LIST } from '../settings/table.ts'
import type { Settings } from '../settings/table.ts'

/** What the demo takes over from a person's settings; all others are as if unset. */
const TAKEN_OVER = ['COLLAB_SYNC_HOME', 'LOG_LEVEL']

/**
 * The settings of the demo: the stand-in as service, the embedded PostgreSQL, nothing of the person's own, so that it
 * can neither fail for a wrong setting nor write into a real database.
 * @throws UsageError for what it takes over
 */
export function demoSettings(
  environment: Environment,
  service: { url: string; apiKey: string; authToken: string },
): Settings & ServiceSettings {
  const names = SETTING_LIST.map(({ setting }) => setting.name)
  const untaken = names.filter((name) => !TAKEN_OVER.includes(name))
  return readSettings(
    {
      ...environment,
      // An empty setting counts as unset, and wins over the file .env.
      ...Object.fromEntries(untaken.map((name) => [name, ''])),
      COLLAB_API_URL: service.url,
      COLLAB_API_KEY: service.apiKey,
      COLLAB_AUTH_TOKEN: service.authToken,
    },
    { need: ['service', 'database', 'queue'] },
  )
}
