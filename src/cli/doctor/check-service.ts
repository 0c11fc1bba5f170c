import { CallError, UsageError } from '../../base/errors.ts'
import { duration } from '../../documents/format.ts'
import { openCollabApi } from '../../core/service/client.ts'
import { fixOf, isOfOtherServer } from '../../core/service/reach.ts'
import { NO_RATE_LIMIT } from '../../core/service/wait.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import { SETTINGS } from '../../settings/table.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Asked for where the catalog names no organization: an id that none has. */
const NO_ORGANIZATION = 'collab-sync-doctor-no-such-organization'

/**
 * Makes one harmless call, Get Users of one organization, and says what its answer means.
 * @param organizationId null where the catalog has none
 * @param timeoutMs how long it may take
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
    return fail('service', `${names}: the example of .env.example`, 'set what you were given')
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
      await collabApi.getUsers({ organizationId: organizationId ?? NO_ORGANIZATION })
      const took = duration(performance.now() - startedAtMs)
      return ok('service', `${settings.collabApiUrl} answers in ${took} and takes key and token`)
    } finally {
      await collabApi.close()
    }
  } catch (error) {
    return judge(error, settings.collabApiUrl, organizationId)
  }
}

function judge(error: unknown, url: string, organizationId: string | null): Finding {
  // A token file that cannot be read, say.
  if (error instanceof UsageError) return fail('service', error.message, 'correct that setting')
  if (!(error instanceof CallError)) throw error
  const { kind, httpStatus, errorStatus, message } = error
  if (kind === 'credentials')
    return fail(
      'service',
      `${url} refuses the key or the token: ${message}`,
      'check COLLAB_API_KEY and COLLAB_AUTH_TOKEN (or COLLAB_AUTH_TOKEN_FILE): is one in the place of the other? A token may have expired',
    )
  if (kind === 'throttled')
    return warn(
      'service',
      `${url} answers that it gets too many calls`,
      'a run waits; SYNC_RATE_LIMIT keeps its calls below what the service takes',
    )
  if (httpStatus === null || kind === 'unreachable') return fail('service', message, fixOf(error))
  if (errorStatus === 'redirect')
    return fail(
      'service',
      `${url} leads elsewhere (${message})`,
      'COLLAB_API_URL must be the address that it leads to, if that is the service: https:// in place of http://, say',
    )
  if (isOfOtherServer(error))
    return fail(
      'service',
      `${url} is not the base address of the service: ${message}`,
      /\/v1(\/|$)/.test(new URL(url).pathname)
        ? 'leave out /v1 and what follows it in COLLAB_API_URL: the path of each operation begins with it'
        : 'correct COLLAB_API_URL',
    )
  if (kind !== 'refused')
    return fail('service', `${url} gives no usable answer: ${message}`, 'try again later')
  if (organizationId === null && /^not.found$/i.test(errorStatus ?? ''))
    return ok('service', `${url} answers, and did not refuse key and token (${message})`)
  return warn(
    'service',
    `${url} answers, but refuses Get Users: ${message}`,
    organizationId === null
      ? 'it may be for want of an organization (collab-sync catalog import FILE); else check COLLAB_API_KEY and COLLAB_AUTH_TOKEN: is one in the place of the other?'
      : 'is that organization right in the catalog, and are key and token for it? Get Users is for client SDK v3 or earlier; SYNC_OPERATIONS=comments leaves it out',
  )
}
