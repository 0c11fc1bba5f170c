import { UsageError } from '../../base/errors.ts'
import { MASKED_SECRET_CHARS_MIN } from '../../core/service/response.ts'
import { misspeltSettings } from '../../settings/near-names.ts'
import { examineSettings } from '../../settings/settings.ts'
import type { Environment } from '../../settings/environment.ts'
import type { SettingFault, SettingGroup } from '../../settings/setting.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/**
 * Examines all settings. Each wrong one is one finding.
 * @returns also the settings, with the defaults of wrong ones, or null if `.env` cannot be read, and the groups with a wrong one
 */
export function checkSettings(environment: Environment) {
  try {
    const need = ['service', 'database', 'queue', 'http'] as const
    const { settings, faults } = examineSettings(environment, { need })
    const misspelt = misspeltSettings(environment).map((found) =>
      warn('settings', found, 'correct the name in the environment or .env'),
    )
    const found = [...faults.map(findingOf), ...misspelt, ...shortSecrets(settings)]
    const wrong = new Set(faults.flatMap(({ setting }) => setting?.group ?? []))
    return { findings: found.length > 0 ? found : [ok('settings', 'valid')], settings, wrong }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const findings = [fail('settings', error.message, 'make it a file that this user can read')]
    return { findings, settings: null, wrong: new Set<SettingGroup>() }
  }
}

/** Short secrets are not masked in records, because they may be ordinary words of them. */
function shortSecrets({ apiKey, authToken }: Settings): Finding[] {
  const given = { COLLAB_API_KEY: apiKey, COLLAB_AUTH_TOKEN: authToken }
  return Object.entries(given).flatMap(([name, value = '']) =>
    value === '' || value.length >= MASKED_SECRET_CHARS_MIN
      ? []
      : warn(
          'settings',
          `${name} has fewer than ${MASKED_SECRET_CHARS_MIN} characters, so it is not masked in records that repeat it`,
          'ask the owner of the service for a longer one',
        ),
  )
}

function findingOf({ problem, fix }: SettingFault): Finding {
  const hint = fix?.replace(/^Example: /, 'for example ').replace(/^Create /, 'create ')
  return fail('settings', problem, hint ?? 'correct it in the environment or .env')
}
