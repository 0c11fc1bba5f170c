import type { RowOf } from './statement.ts'
import type { insertFirst } from './statements/items.ts'

/** A new item, as the statements that plan tell of it. */
export type PlannedItem = RowOf<typeof insertFirst>

/** A piece of a run, as the queue delivers it, which serves low rounds first. */
export interface Item extends PlannedItem {
  readonly runId: string
  /** Where its run began in a trace, for whoever hands it over outside of that trace. */
  readonly traceparent?: string | null
}

/** Planned items, to hand to the queue. */
export function toItems(runId: string, planned: readonly PlannedItem[]): Item[] {
  return planned.map((item) => ({ runId, ...item }))
}
