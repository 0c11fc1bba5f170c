import * as z from 'zod'
import type { App } from '../src/app.ts'
import { checked, RunIdSchema } from '../src/documents/check.ts'
import type { Delivered } from '../src/queue/worker.ts'

/** What the queue delivers: a file of this folder each. */
export interface Job {
  /** Stored in the queue: never rename. */
  readonly name: string
  perform(app: App, job: Delivered): Promise<unknown>
}

const ItemData = z.strictObject({ runId: RunIdSchema, itemId: z.int() })

/** The ids in an item job's data. @throws UsageError where they are not there */
export function itemIds(data: unknown): z.output<typeof ItemData> {
  return checked(ItemData, data, 'data')
}
