import * as z from 'zod'
import { counted, shortId } from '../../format.ts'
import { requireRun } from './require-run.ts'
import type { Action } from './action.ts'
import { pathOf } from './sync.ts'

/** Asks for a run of just the scopes that failed in another. */
export const retryRun: Action<{ run: string }> = {
  name: 'retry',
  fields: z.object({ run: z.uuid() }),
  async ask({ collabSync }, { run: runId }) {
    const run = await requireRun(collabSync, runId)
    return {
      title: 'Retry what failed?',
      sentences: [
        `A new run asks the service for just the ${counted(run.scopesFailed, 'scope')} that failed in run ${shortId(runId)}.`,
      ],
      words: 'Retry',
      back: `/runs/${runId}`,
    }
  },
  async perform({ collabSync }, { run }, key) {
    return pathOf(await collabSync.retryRun(run, { idempotencyKey: key }))
  },
}
