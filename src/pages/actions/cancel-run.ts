import * as z from 'zod'
import { scopesDone, scopesInAll } from '../../database/run-reports.ts'
import { UsageError } from '../../errors.ts'
import { count, shortId } from '../../format.ts'
import { pathWithNotice } from '../notices.ts'
import type { Action } from './action.ts'
import { requireRun } from './require-run.ts'

/** Ends a run early. */
export const cancelRun: Action<{ run: string }> = {
  name: 'cancel',
  fields: z.object({ run: z.uuid() }),
  async ask({ collabSync }, { run: runId }) {
    const run = await requireRun(collabSync, runId)
    if (run.finishedAt !== null) throw new UsageError(`Run ${shortId(runId)} is over already.`)
    return {
      title: `Cancel run ${shortId(runId)}?`,
      sentences: [
        `${count(scopesDone(run))} of ${count(scopesInAll(run))} scopes are done. What is stored stays; nothing further is asked for.`,
      ],
      words: 'Cancel the run',
      isDanger: true,
      back: `/runs/${runId}`,
    }
  },
  async perform({ collabSync }, { run }) {
    await collabSync.cancelRun(run)
    return pathWithNotice(`/runs/${run}`, 'run-cancelled')
  },
}
