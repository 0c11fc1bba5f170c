import type { Database } from '../database/pool.ts'
import { durationOf, readFailures, readRun } from '../database/run-reports.ts'
import type { RunReport } from '../database/run-reports.ts'
import { DEAD_AFTER_S } from '../database/workers.ts'
import * as held from '../database/statements/held.ts'
import { UsageError } from '../errors.ts'
import { RunSignals } from '../sync/run-signals.ts'
import { stopRun } from '../sync/stop-run.ts'
import type { CollabSync, RunDetails } from './collab-sync.ts'
import type { Parts } from './parts.ts'
import { isRunId } from './request.ts'
import { requireRun, thereIsNone } from './require-run.ts'
import { watchRun } from './watch-run.ts'

type Runs = Pick<CollabSync, 'getRun' | 'cancelRun' | 'watchRun' | 'waitForRun'>

/** One run: what is known of it, its end, and following it there. */
export function runsOn({ database, log, trigger }: Parts): Runs {
  return {
    getRun: (runId) => readDetails(database, runId),
    async cancelRun(runId) {
      const run = await requireRun(database, runId)
      if (run.finishedAt !== null) throw isOver(run)
      const runSignals = new RunSignals()
      const context = { database, deadAfterS: DEAD_AFTER_S, log, runSignals }
      if (await stopRun(context, runId, 'cancelled', CANCELLED_BY[trigger])) return
      const now = await requireRun(database, runId)
      if (now.finishedAt !== null && now.status !== 'cancelled') throw isOver(now)
    },
    watchRun: (runId, { signal } = {}) => watchRun(database, runId, signal),
    async waitForRun(runId, { signal } = {}) {
      for await (const run of watchRun(database, runId, signal)) {
        if (run.finishedAt !== null) break
      }
      return (await readDetails(database, runId)) ?? thereIsNone(runId)
    },
  }
}

async function readDetails(database: Database, runId: string): Promise<RunDetails | null> {
  const run = isRunId(runId) ? await readRun(database, runId) : null
  if (run === null) return null
  return {
    ...run,
    durationMs: durationOf(run),
    failuresByCause: await readFailures(database, runId),
    heldWaiting: (await held.countOfRun.one(database, { runId })).held,
  }
}

function isOver({ runId, status }: RunReport): UsageError {
  return new UsageError(`Run ${runId} is over: its status is ${status}.`)
}

const CANCELLED_BY: Readonly<Record<Parts['trigger'], string>> = {
  http: 'It was cancelled over HTTP.',
  api: 'It was cancelled by a program.',
}
