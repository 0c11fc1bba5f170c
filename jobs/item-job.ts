import * as z from 'zod'
import type { App } from '../src/worker/app.ts'
import { checked, RunIdSchema } from '../src/documents/check.ts'
import type { Job } from '../src/worker/worker.ts'

const ItemData = z.strictObject({ runId: RunIdSchema, itemId: z.int() })

/** A job for items of runs. It finishes the run where the item was the last one. */
export function itemJob(
  name: string,
  perform: (app: App, ids: z.output<typeof ItemData>) => Promise<unknown>,
): Job {
  return {
    name,
    async perform(app, { data }) {
      const ids = checked(ItemData, data, 'data')
      await perform(app, ids)
      await app.finishIfDone(ids.runId)
    },
  }
}
