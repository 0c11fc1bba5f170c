import { CallError, UsageError } from '../../base/errors.ts'
import { OPERATIONS } from '../../base/operations.ts'
import type { Operation, ScopeKind } from '../../base/operations.ts'
import type { RowOf } from '../../core/database/statement.ts'
import type * as catalog from '../../core/database/statements/catalog.ts'
import { moduleOf } from '../../core/sync/operation.ts'
import { duration } from '../../schemas/format.ts'
import { openCollabApi } from '../../core/service/client.ts'
import { fixOf, isOfOtherServer } from '../../core/service/unreachable.ts'
import { NO_RATE_LIMIT } from '../../core/service/shared-rate-limit.ts'
import type { ServiceSettings } from '../../settings/settings.ts'
import { SETTINGS } from '../../settings/table.ts'
import type { Settings } from '../../settings/table.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Used if the catalog is empty: nothing has this ID. */
const NO_ID = 'collab-sync-doctor-no-such-organization'

type AnyScope = RowOf<typeof catalog.anyScopes>

/**
 * Makes one harmless call of each operation that has scopes, and explains the responses. A fault that all calls have in common
 * is one finding.
 * @param scopes a scope of each operation that SYNC_OPERATIONS selects; empty if the catalog has none
 */
export async function checkService(
  settings: Settings & ServiceSettings,
  scopes: readonly AnyScope[],
  timeoutMs: number,
): Promise<Finding[]> {
  const examples = [SETTINGS.apiKey, SETTINGS.authToken].filter(
    ({ example }) => example === settings.apiKey || example === settings.authToken,
  )
  if (examples.length > 0) {
    const names = examples.map(({ name }) => name).join(' and ')
    return [fail('service', `${names}: the example of .env.example`, 'set your own value')]
  }
  const isEmpty = scopes.length === 0
  try {
    const probes = await probe(
      settings,
      isEmpty ? settings.operations.slice(0, 1).map(unknownScope) : scopes,
      timeoutMs,
    )
    const faults = new Set(probes.map(({ error }) => error && `${error.kind} ${error.httpStatus}`))
    const isCommon = faults.size === 1 && probes[0]?.error?.kind !== 'refused' && !faults.has(null)
    return probes.slice(0, isCommon ? 1 : undefined).map((one) => judge(one, settings, isEmpty))
  } catch (error) {
    // For example, a token file that cannot be read.
    if (!(error instanceof UsageError)) throw error
    return [fail('service', error.message, 'correct that setting')]
  }
}

function unknownScope(operation: Operation): AnyScope {
  const kinds: readonly ScopeKind[] = OPERATIONS[operation].kinds
  const below = kinds.includes('organization') ? null : NO_ID
  const ids = { organizationId: NO_ID, documentId: below, annotationId: below }
  return { operation, ...ids, organizationUserGroupId: null }
}

/** @throws UsageError for a setting that cannot be used */
async function probe(
  settings: Settings & ServiceSettings,
  scopes: readonly AnyScope[],
  timeoutMs: number,
) {
  const collabApi = openCollabApi({
    ...settings,
    sharedRateLimit: NO_RATE_LIMIT,
    timeoutMs: Math.min(settings.timeoutMs, timeoutMs),
    retries: 0,
    retryAfterMaxMs: 0,
    throttledMaxMs: 0,
    concurrency: scopes.length,
  })
  const call = async ({ operation, ...ids }: AnyScope) => {
    const startedAtMs = performance.now()
    // Null if the service accepted the call.
    const error = await collabApi.get(operation, moduleOf(operation).filterOf(ids)).then(
      () => null,
      (thrown: unknown) => {
        if (thrown instanceof CallError) return thrown
        throw thrown
      },
    )
    return { operation, ms: performance.now() - startedAtMs, error }
  }
  try {
    return await Promise.all(scopes.map(call))
  } finally {
    await collabApi.close()
  }
}

/** @param isEmpty whether the catalog is */
function judge(
  { operation, ms, error }: Awaited<ReturnType<typeof probe>>[number],
  { collabApiUrl: url, operations }: Settings & ServiceSettings,
  isEmpty: boolean,
): Finding {
  const { name, condition } = OPERATIONS[operation]
  if (error === null)
    return ok('service', `${url} responds to ${name} in ${duration(ms)} and accepts key and token`)
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
  if (isEmpty && /^not.found$/i.test(errorStatus ?? ''))
    return ok('service', `${url} responds and did not refuse key and token (${message})`)
  const others = operations.filter((each) => each !== operation)
  const omit = others.length === 0 ? '' : `; SYNC_OPERATIONS=${others.join(',')} omits it`
  return warn(
    'service',
    `${url} responds, but refuses ${name}: ${message}`,
    isEmpty
      ? 'import a catalog first (collab-sync catalog import FILE); if the call is still refused, check COLLAB_API_KEY and COLLAB_AUTH_TOKEN: they may be swapped'
      : `check that these IDs exist and that key and token are valid for the organization. ${condition}${omit}`,
  )
}
