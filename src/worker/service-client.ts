import { openCollabApi } from '../core/service/client.ts'
import type { CollabApi, CollabApiOptions } from '../core/service/client.ts'
import type { ServiceSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/table.ts'

/**
 * Opens the service client as the settings say.
 * @param own what is the caller's to say, the shared rate limit above all; it wins over the settings
 * @throws UsageError for a setting that cannot be used
 */
export function openServiceClient(
  settings: Settings & ServiceSettings,
  own: Pick<CollabApiOptions, 'sharedRateLimit'> & Partial<CollabApiOptions>,
): CollabApi {
  return openCollabApi({
    baseUrl: settings.collabApiUrl,
    apiKey: settings.apiKey,
    tokenSource:
      settings.authTokenFile === undefined
        ? { token: settings.authToken ?? '' }
        : { tokenFile: settings.authTokenFile },
    apiKeyHeader: settings.apiKeyHeader,
    authTokenHeader: settings.authTokenHeader,
    timeoutMs: settings.timeoutMs,
    retries: settings.retries,
    retryAfterMaxMs: settings.retryAfterMaxMs,
    throttledMaxMs: settings.throttledMaxMs,
    maxBodyBytes: settings.maxBodyBytes,
    maxConcurrency: settings.concurrency,
    ...own,
  })
}
