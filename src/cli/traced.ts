import type { Log } from '../log.ts'
import type { Settings } from '../settings/table.ts'
import { withSpan } from '../trace.ts'

/**
 * Does the work of a command as one trace, where the settings name a collector. What tracing needs is loaded only then,
 * so that without it nothing takes longer.
 */
export async function traced<T>(
  name: string,
  settings: Settings,
  log: Log,
  work: () => Promise<T>,
): Promise<T> {
  const stop = await openTracing(settings, log)
  try {
    return await withSpan(`collab-sync ${name}`, {}, work)
  } finally {
    await stop()
  }
}

/** Makes traces from here on, where the settings name a collector. @returns a function that ends that */
export async function openTracing(settings: Settings, log: Log): Promise<() => Promise<void>> {
  const { otlpEndpoint, otlpTracesEndpoint, otelServiceName, collabApiUrl } = settings
  const url =
    otlpTracesEndpoint ??
    (otlpEndpoint === undefined ? null : `${otlpEndpoint.replace(/\/+$/, '')}/v1/traces`)
  if (url === null) return async () => {}
  const { startTracing } = await import('../signals/tracing.ts')
  return startTracing({
    url,
    serviceName: otelServiceName,
    log,
    ...(collabApiUrl === undefined ? {} : { serviceUrl: collabApiUrl }),
  })
}
