import * as z from 'zod'
import { UsageError } from '../src/errors.ts'
import { parseScope } from '../src/documents/scope.ts'
import { startRun } from '../src/sync/run/start.ts'
import type { Job } from './job.ts'

const Data = z.strictObject({ scope: z.unknown().optional() })

/** A program asked for a run through the queue (contract.md, "The queue"). Delivered twice, it makes one run. */
export const startRunJob: Job = {
  name: 'start-run',
  async perform(app, { data, requestKey }) {
    const parsed = Data.safeParse(data ?? {})
    if (!parsed.success) {
      throw new UsageError('Job data may hold one member only, "scope".')
    }
    const scope = parseScope(parsed.data.scope)
    const { runId, items } = await startRun(app.sync, { trigger: 'api', scope, requestKey })
    await app.deliver(items)
    return { runId }
  },
}
