import type { Database } from '../../core/database/pool.ts'
import * as notify from '../../core/database/statements/notify.ts'
import { UsageError } from '../../base/errors.ts'
import { counted } from '../../documents/format.ts'
import { receiversOf } from '../../features/notify/post.ts'
import type { ReceiverAddress } from '../../features/notify/post.ts'
import { misspeltSettings } from '../../settings/near-names.ts'
import { readSettings, requireOwnToken } from '../../settings/settings.ts'
import type { Environment } from '../../settings/environment.ts'
import type { SettingNeed } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Groups are read separately, so that a fault in one does not hide the others. */
const GROUPS = ['service', 'database', 'queue', 'http'] as const

export interface CheckedSettings {
  readonly findings: Finding[]
  /** Null if settings that every command reads are wrong. */
  readonly settings: Settings | null
  /** Groups without a fault. */
  readonly usable: ReadonlySet<SettingNeed>
}

/** Reads the settings by group. Each fault is a finding. */
export function checkSettings(environment: Environment): CheckedSettings {
  const general = faultsOf(environment, [])
  if (general.length > 0) {
    return { findings: general.map(wrong), settings: null, usable: new Set() }
  }
  const faults = GROUPS.map((group) => ({ group, lines: faultsOf(environment, [group]) }))
  const usable = faults.filter(({ lines }) => lines.length === 0).map(({ group }) => group)
  const lines = faults.flatMap((fault) => fault.lines)
  const misspelt = misspeltSettings(environment).map((found) =>
    warn('settings', found, 'correct the name in the environment or .env'),
  )
  const found = [...lines.map(wrong), ...misspelt]
  return {
    findings: found.length > 0 ? found : [ok('settings', 'valid')],
    settings: readSettings(environment, { need: usable }),
    usable: new Set(usable),
  }
}

function faultsOf(environment: Environment, need: readonly SettingNeed[]): string[] {
  try {
    requireOwnToken(readSettings(environment, { need }))
    return []
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return error.message.split('\n')
  }
}

function wrong(line: string): Finding {
  const [found = line, example] = line.split(' Example: ')
  return fail(
    'settings',
    found,
    example === undefined ? 'correct it in the environment or .env' : `for example ${example}`,
  )
}

/** Checks the past deliveries to each receiver of NOTIFY_URL. It sends nothing, and shows only the host of an address. */
export async function checkNotify(
  database: Database,
  addresses: readonly ReceiverAddress[],
): Promise<Finding[]> {
  const receivers = receiversOf(addresses)
  const keys = receivers.map(({ key }) => key)
  const rows = await notify.undelivered.all(database, { receivers: keys })
  const undelivered = new Map(rows.map((row) => [row.receiver, row]))
  return receivers.map(({ key, shape, url }) => {
    const name = `${shape} at ${new URL(url).host}`
    const trouble = undelivered.get(key)
    if (trouble === undefined) return ok('notify', `${name}: no recent failures`)
    const { givenUp, waiting, problem } = trouble
    return warn(
      'notify',
      `${name}: ${counted(givenUp, 'message')} undelivered and ${waiting} pending in the last week (${problem})`,
      'correct the address in NOTIFY_URL, or fix the receiver',
    )
  })
}
