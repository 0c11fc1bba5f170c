import type { Delivery } from './queue.ts'

/** An item of a run as a job: ids only. */
export function itemDelivery(item: {
  runId: string
  itemId: number
  kind: string
  round: number
  traceparent?: string | null
}): Delivery {
  const { runId, itemId, kind, round, traceparent = null } = item
  return {
    name: kind,
    data: { runId, itemId },
    key: `item-${itemId}`,
    priority: round,
    traceparent,
  }
}

/** The job that settles a run. */
export function finishDelivery(runId: string): Delivery {
  return { name: 'finish-run', data: { runId }, key: `finish-${runId}`, priority: 0 }
}
