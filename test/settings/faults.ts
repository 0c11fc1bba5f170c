import { expect } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import type { Environment } from '../../src/settings/environment.ts'
import { readSettings } from '../../src/settings/settings.ts'
import type { SettingNeed } from '../../src/settings/settings.ts'

/** The least that a command needs that calls the service. */
export const SERVICE = {
  COLLAB_API_URL: 'https://api.example.com/base/',
  COLLAB_API_KEY: 'key-1',
  COLLAB_AUTH_TOKEN: 'token-1',
}

/** Valid for NOTIFY_SECRET and HTTP_TOKEN. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** What is wrong with settings, a line each. */
export function faultsOf(
  environment: Environment,
  need: readonly SettingNeed[] = ['service', 'database', 'queue'],
  directory = '/nonexistent',
): string[] {
  try {
    readSettings(environment, { need: [...need], directory })
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as UsageError).message.split('\n')
  }
  return []
}
