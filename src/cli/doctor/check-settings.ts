import { UsageError } from '../../base/errors.ts'
import { misspeltSettings } from '../../settings/near-names.ts'
import { examineSettings } from '../../settings/settings.ts'
import type { Environment } from '../../settings/environment.ts'
import type { SettingNeed } from '../../settings/settings.ts'
import type { Setting, SettingFault } from '../../settings/setting.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

export interface CheckedSettings {
  readonly findings: Finding[]
  /** With the defaults of wrong settings. Null if `.env` cannot be read. */
  readonly settings: Settings | null
  /** The wrong settings. */
  readonly wrong: readonly Setting[]
}

/**
 * Reads the settings of these groups, and those that every command reads. Each wrong setting is one finding.
 * @param only ignores all settings but these
 */
export function checkSettings(
  environment: Environment,
  { need, only }: { need: readonly SettingNeed[]; only?: readonly Setting[] },
): CheckedSettings {
  try {
    const { settings, faults: all } = examineSettings(environment, { need })
    const wrong = all.flatMap(({ setting }) => setting ?? [])
    const faults = all.filter(({ setting }) => !setting || !only || only.includes(setting))
    const misspelt = misspeltSettings(environment).map((found) =>
      warn('settings', found, 'correct the name in the environment or .env'),
    )
    const found = [...faults.map(findingOf), ...misspelt]
    return { findings: found.length > 0 ? found : [ok('settings', 'valid')], settings, wrong }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const findings = [fail('settings', error.message, 'make it a file that this user can read')]
    return { findings, settings: null, wrong: [] }
  }
}

function findingOf({ problem, fix }: SettingFault): Finding {
  const hint = fix?.replace(/^Example: /, 'for example ').replace(/^Create /, 'create ')
  return fail('settings', problem, hint ?? 'correct it in the environment or .env')
}
