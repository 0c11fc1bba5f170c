import { CallError, UsageError } from '../../errors.ts'
import { duration } from '../../format.ts'
import type { Log } from '../../log.ts'
import { openProcessRateLimit } from '../../rate-limit/limiter.ts'
import { openServiceClient } from '../../service-client.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

const TIMEOUT_MAX_MS = 10_000
/** Asked for where the catalog names no organization: an id that none has. */
const NO_ORGANIZATION = 'collab-sync-doctor-no-such-organization'

/**
 * Makes one harmless call, Get Users of one organization, and says what its answer means.
 * @param organizationId null where the catalog has none
 */
export async function checkService(
  settings: Settings & ServiceSettings,
  organizationId: string | null,
  log: Log,
): Promise<Finding> {
  const rateLimit = openProcessRateLimit({ callsPerSecond: null, log })
  try {
    const collabApi = openServiceClient(settings, {
      sharedRateLimit: rateLimit,
      timeoutMs: Math.min(settings.timeoutMs, TIMEOUT_MAX_MS),
      retries: 0,
      retryAfterMaxMs: 0,
      throttledMaxMs: 0,
      maxConcurrency: 1,
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
  } finally {
    await rateLimit.close()
  }
}

function judge(error: unknown, url: string, organizationId: string | null): Finding {
  // A token file that cannot be read, say.
  if (error instanceof UsageError) return fail('service', error.message, 'correct that setting')
  if (!(error instanceof CallError)) throw error
  if (error.kind === 'credentials') {
    return fail(
      'service',
      `${url} refuses the key or the token: ${error.message}`,
      'check COLLAB_API_KEY and COLLAB_AUTH_TOKEN (or COLLAB_AUTH_TOKEN_FILE); a token may have expired',
    )
  }
  if (error.kind === 'refused' && organizationId === null) {
    return ok('service', `${url} answers, and did not refuse key and token (${error.message})`)
  }
  if (error.kind === 'refused') {
    return warn(
      'service',
      `${url} answers, but refuses Get Users for organization ${JSON.stringify(organizationId)}: ${error.message}`,
      'is that organization right in the catalog? Get Users is for client SDK v3 or earlier; SYNC_OPERATIONS=comments leaves it out',
    )
  }
  if (error.httpStatus === null) {
    return fail(
      'service',
      `${url} cannot be reached: ${error.message}`,
      'is COLLAB_API_URL right, is the network up, and does a firewall allow it?',
    )
  }
  return fail(
    'service',
    `${url} gives no usable answer: ${error.message}`,
    'is COLLAB_API_URL the base address of the service? If so, try again later',
  )
}
