import * as z from 'zod'
import { shortId } from '../../format.ts'
import { pathWithNotice } from '../notices.ts'
import type { Action } from './action.ts'

/** Tries again to store what was rejected. */
export const replayRejected: Action<{ run?: string | undefined }> = {
  name: 'replay',
  fields: z.object({ run: z.uuid().optional() }),
  async ask(_context, { run }) {
    return {
      title: 'Try rejected records again?',
      sentences: [
        `The rejected records of ${run === undefined ? 'all runs' : `run ${shortId(run)}`} are read again, without a call to the service. Those that can be stored by now are, unless a newer answer has overtaken them.`,
      ],
      words: 'Try them again',
      back: '/held',
    }
  },
  async perform({ collabSync }, { run }) {
    const done = await collabSync.replayRejectedRecords(run === undefined ? {} : { runId: run })
    return pathWithNotice('/held', 'replayed', [done.replayed, done.stillRejected, done.obsolete])
  },
}
