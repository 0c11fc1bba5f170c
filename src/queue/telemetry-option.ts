import type { Telemetry } from 'bullmq'
import { isTracing } from '../trace.ts'

/** BullMQ's option for traces; what it needs is loaded only where traces are made. */
export async function telemetryOption(): Promise<{ telemetry?: Telemetry }> {
  if (!isTracing()) return {}
  const { quietTelemetry } = await import('./telemetry.ts')
  return { telemetry: quietTelemetry() }
}
