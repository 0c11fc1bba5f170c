import { FailureCauseSchema, WaitSchema } from '../schemas/run.ts'
import type { Run, RunDetails, Wait } from '../schemas/run.ts'
import { isRunId } from '../schemas/check.ts'
import { MISSING_NAMED, RECORD_CHARACTERS } from '../schemas/waiting.ts'
import type { Held } from '../schemas/waiting.ts'
import { StoredScopeSchema } from '../schemas/scope.ts'
import { DEAD_AFTER_S } from '../core/database/claims.ts'
import type { Database } from '../core/database/pool.ts'
import * as actions from '../core/database/statements/actions.ts'
import * as failures from '../core/database/statements/failures.ts'
import * as holds from '../core/database/statements/held.ts'
import * as rejected from '../core/database/statements/rejected.ts'
import * as runs from '../core/database/statements/runs.ts'
import * as workers from '../core/database/statements/workers.ts'

/** Maximum number of held listings, rejected records, actions and retries. */
const SHOWN = 10

/** A run with its details; null if there is none, also for a text that is no ID of a run. */
export async function readRunDetails(
  database: Database,
  runId: string,
): Promise<RunDetails | null> {
  const run = await readRun(database, runId)
  if (run === null) return null
  const held = await readHeld(database, runId, false)
  const newest = { runId, before: null, limit: SHOWN }
  const rejections = { ...newest, isSetAside: null, mostCharacters: RECORD_CHARACTERS }
  return {
    ...run,
    waiting: run.finishedAt === null ? await readWaits(database, runId) : [],
    failuresByCause: (await failures.byCause.all(database, { runId })).map((cause) => ({
      ...cause,
      examples: FailureCauseSchema.shape.examples.parse(cause.examples),
    })),
    failuresByState: await failures.states.one(database, { runId }),
    resolvedBy: (await runs.resolvedBy.first(database, { runId }))?.runId ?? null,
    retriedBy: (await runs.retries.all(database, { runId, limit: SHOWN })).map(
      (each) => each.runId,
    ),
    actions: await actions.list.all(database, newest),
    held,
    heldWaiting: held.listings,
    refused: await readHeld(database, runId, true),
    rejectedRecords: run.rejected > 0 ? await rejected.list.all(database, rejections) : [],
  }
}

/** Listings that a run held, pending approval or refused: their numbers, and some of them, oldest first. */
async function readHeld(database: Database, runId: string, isRefused: boolean): Promise<Held> {
  const of = { runId, heldId: null, organizationId: null, isRefused }
  const counts = await holds.count.one(database, of)
  const first = { ...of, after: null, limit: SHOWN, mostUsers: MISSING_NAMED }
  return { ...counts, first: counts.listings > 0 ? await holds.list.all(database, first) : [] }
}

/** What live workers wait for, longest first. With a run, only workers that execute it or cannot take its jobs. */
export async function readWaits(database: Database, runId: string | null): Promise<Wait[]> {
  const waits = await workers.waiting.all(database, { runId, deadAfterS: DEAD_AFTER_S })
  return waits.map((wait) => WaitSchema.parse(wait))
}

/** A run; null if there is none, also for a text that is no ID of a run. */
export async function readRun(database: Database, runId: string): Promise<Run | null> {
  if (!isRunId(runId)) return null
  const [run] = await readRuns(database, [runId], 1)
  return run ?? null
}

/** Runs with these IDs, or all, newest first. */
export async function readRuns(
  database: Database,
  runIds: readonly string[] | null,
  limit: number,
): Promise<Run[]> {
  const rows = await runs.reports.all(database, { runIds, limit, deadAfterS: DEAD_AFTER_S })
  return rows.map((row) => {
    const end = row.finishedAt ?? row.readAt
    // 0 before its start.
    const durationMs = end.getTime() - (row.startedAt ?? end).getTime()
    return { ...row, scope: StoredScopeSchema.parse(row.scope), durationMs }
  })
}

/** Minimum digits of the ID of a run. */
export const RUN_DIGITS_MIN = 6
const DIGITS = 32

/** Finds up to ten runs by an ID or its first digits. @returns null if the text is neither */
export async function findRunIds(database: Database, text: string): Promise<string[] | null> {
  const digits = text.toLowerCase().replaceAll('-', '')
  if (!/^[0-9a-f-]+$/i.test(text)) return null
  if (digits.length < RUN_DIGITS_MIN || digits.length > DIGITS) return null
  const found = await runs.findByIdRange.all(database, {
    lowest: digits.padEnd(DIGITS, '0'),
    highest: digits.padEnd(DIGITS, 'f'),
  })
  return found.map(({ runId }) => runId)
}
