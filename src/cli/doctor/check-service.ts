import { CallError, UsageError } from '../../base/errors.ts'
import { duration } from '../../schemas/format.ts'
import { openCollabApi } from '../../core/service/client.ts'
import { fixOf, isOfOtherServer } from '../../core/service/unreachable.ts'
import { NO_RATE_LIMIT } from '../../core/service/shared-rate-limit.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import { SETTINGS } from '../../settings/table.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Used if the catalog is empty: no organization has this ID. */
const NO_ORGANIZATION = 'collab-sync-doctor-no-such-organization'

/**
 * Makes one harmless call, Get Users of one organization, and explains the response.
 * @param organizationId null if the catalog is empty
 */
export async function checkService(
  settings: Settings & ServiceSettings,
  organizationId: string | null,
  timeoutMs: number,
): Promise<Finding> {
  const examples = [SETTINGS.apiKey, SETTINGS.authToken].filter(
    ({ example }) => example === settings.apiKey || example === settings.authToken,
  )
  if (examples.length > 0) {
    const names = examples.map(({ name }) => name).join(' and ')
    return fail('service', `${names}: the example of .env.example`, 'set your own value')
  }
  try {
    const collabApi = openCollabApi({
      ...settings,
      sharedRateLimit: NO_RATE_LIMIT,
      timeoutMs: Math.min(settings.timeoutMs, timeoutMs),
      retries: 0,
      retryAfterMaxMs: 0,
      throttledMaxMs: 0,
      concurrency: 1,
    })
    try {
      const startedAtMs = performance.now()
      await collabApi.get('users', { organizationId: organizationId ?? NO_ORGANIZATION })
      const took = duration(performance.now() - startedAtMs)
      return ok('service', `${settings.collabApiUrl} responds in ${took} and accepts key and token`)
    } finally {
      await collabApi.close()
    }
  } catch (error) {
    return judge(error, settings.collabApiUrl, organizationId)
  }
}

function judge(error: unknown, url: string, organizationId: string | null): Finding {
  // For example, a token file that cannot be read.
  if (error instanceof UsageError) return fail('service', error.message, 'correct that setting')
  if (!(error instanceof CallError)) throw error
  const { kind, httpStatus, errorStatus, message } = error
  if (kind === 'credentials')
    return fail(
      'service',
      `${url} refuses the key or the token: ${message}`,
      'check COLLAB_API_KEY and COLLAB_AUTH_TOKEN (or the files that contain them): they may be swapped, or the token may have expired',
    )
  if (kind === 'throttled')
    return warn(
      'service',
      `${url} throttles calls`,
      'set SYNC_RATE_LIMIT below the limit of the service; runs wait meanwhile',
    )
  if (httpStatus === null || kind === 'unreachable') return fail('service', message, fixOf(error))
  if (errorStatus === 'redirect')
    return fail(
      'service',
      `${url} redirects (${message})`,
      'set COLLAB_API_URL to the target of the redirect if that is the service, for example https:// instead of http://',
    )
  if (isOfOtherServer(error))
    return fail(
      'service',
      `${url} is not the base address of the service: ${message}`,
      /\/v1(\/|$)/.test(new URL(url).pathname)
        ? 'remove /v1 and the rest of the path from COLLAB_API_URL: the path of each operation begins with /v1'
        : 'correct COLLAB_API_URL',
    )
  if (errorStatus === 'headers_too_large')
    return fail('service', message, 'shorten it at the service or its gateway')
  if (kind !== 'refused')
    return fail(
      'service',
      `${url} returns no usable response: ${message}`,
      errorStatus?.startsWith('body_')
        ? 'correct it at the service or the proxy in front of it'
        : 'try again later',
    )
  if (organizationId === null && /^not.found$/i.test(errorStatus ?? ''))
    return ok('service', `${url} responds and did not refuse key and token (${message})`)
  return warn(
    'service',
    `${url} responds, but refuses Get Users: ${message}`,
    organizationId === null
      ? 'import a catalog first (collab-sync catalog import FILE); if the call is still refused, check COLLAB_API_KEY and COLLAB_AUTH_TOKEN: they may be swapped'
      : 'check that the organization exists and that key and token are valid for it. Get Users is for client SDK v3 or earlier; SYNC_OPERATIONS=comments omits it',
  )
}
