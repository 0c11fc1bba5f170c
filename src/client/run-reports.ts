import { FailureCauseSchema, FailureSchema, WaitSchema } from '../documents/run.ts'
import type { Failure, FailureReport, Run, RunDetails, RunStatus, Wait } from '../documents/run.ts'
import { RECORD_CHARACTERS } from '../documents/waiting.ts'
import { StoredScopeSchema } from '../documents/scope.ts'
import { DEAD_AFTER_S } from '../core/database/claims.ts'
import type { Database } from '../core/database/pool.ts'
import type { RowOf } from '../core/database/statement.ts'
import * as actions from '../core/database/statements/actions.ts'
import * as failures from '../core/database/statements/failures.ts'
import * as rejected from '../core/database/statements/rejected.ts'
import * as runs from '../core/database/statements/runs.ts'
import * as workers from '../core/database/statements/workers.ts'
import { readHeld } from './waiting.ts'

/** Held listings, rejected records and retries that a run is shown with. */
const SHOWN = 10

/** A run with what a person needs to decide what to do about it; null where there is none with that id. */
export async function readRunDetails(
  database: Database,
  runId: string,
): Promise<RunDetails | null> {
  const run = await readRun(database, runId)
  if (run === null) return null
  const held = await readHeld(database, runId, SHOWN)
  return {
    ...run,
    waiting: run.finishedAt === null ? await readWaits(database, runId) : [],
    failuresByCause: await readFailures(database, runId),
    failuresByState: await failures.states.one(database, { runId }),
    retriedBy: (await runs.retries.all(database, { runId, limit: SHOWN })).map(
      (each) => each.runId,
    ),
    actions: await actions.list.all(database, { runId, before: null, limit: SHOWN }),
    held,
    heldWaiting: held.listings,
    rejectedRecords: run.rejected > 0 ? await readRejected(database, runId) : [],
  }
}

function readRejected(database: Database, runId: string) {
  const newest = { before: null, limit: SHOWN, mostCharacters: RECORD_CHARACTERS }
  return rejected.list.all(database, { runId, isSetAside: null, ...newest })
}

/** What live workers wait for, the longest wait first; of a run those that work on it, or cannot take its jobs. */
export async function readWaits(database: Database, runId: string | null): Promise<Wait[]> {
  const waits = await workers.waiting.all(database, { runId, deadAfterS: DEAD_AFTER_S })
  return waits.map((wait) => WaitSchema.parse(wait))
}

/** The newest runs first. */
export async function readRecentRuns(database: Database, max: number): Promise<Run[]> {
  return readRuns(database, null, max)
}

/** One run; null where there is none with that id. */
export async function readRun(database: Database, runId: string): Promise<Run | null> {
  const [run] = await readRuns(database, [runId], 1)
  return run ?? null
}

/** Failures of a run by cause, the most frequent first; 20 causes at most. */
export async function readFailures(database: Database, runId: string): Promise<FailureReport[]> {
  const causes = await failures.byCause.all(database, { runId })
  return causes.map((cause) => ({ ...cause, examples: ExamplesSchema.parse(cause.examples) }))
}

const ExamplesSchema = FailureCauseSchema.shape.examples

/**
 * A page of failures, the newest first.
 * @param of.before lowest id of the page before; null for the first page
 */
export async function pageFailures(
  database: Database,
  of: Parameters<typeof failures.page.all>[1],
): Promise<Failure[]> {
  const page = await failures.page.all(database, of)
  return page.map((row) => ({ ...row, state: StateSchema.parse(row.state) }))
}

const StateSchema = FailureSchema.shape.state

async function readRuns(
  database: Database,
  runIds: readonly string[] | null,
  limit: number,
): Promise<Run[]> {
  const rows = await runs.reports.all(database, { runIds, limit, deadAfterS: DEAD_AFTER_S })
  return rows.map((row) => ({
    ...row,
    scope: StoredScopeSchema.parse(row.scope),
    durationMs: durationOf(row),
  }))
}

/** From its begin to its end, or until it was read, in milliseconds; 0 for one that has not begun. */
function durationOf({ startedAt, finishedAt, readAt }: RowOf<typeof runs.reports>): number {
  const end = finishedAt ?? readAt
  return end.getTime() - (startedAt ?? end).getTime()
}

/** The position of a run in the order of runs: when it was requested, in microseconds since 1970, and its id. */
export type RunKey = readonly [requestedAtUs: number, runId: string]

/**
 * A page of runs, the newest first.
 * @param page.after key of the last run of the page before; null for the first page
 */
export async function pageRuns(
  database: Database,
  { status, after, limit }: { status: RunStatus | null; after: RunKey | null; limit: number },
): Promise<{ key: RunKey; item: Run }[]> {
  const [beforeUs, beforeRunId] = after ?? [null, null]
  const keys = await runs.page.all(database, { status, beforeUs, beforeRunId, limit })
  const runIds = keys.map(({ runId }) => runId)
  const reports = await readRuns(database, runIds, runIds.length)
  const byId = new Map(reports.map((report) => [report.runId, report]))
  return keys.flatMap(({ runId, requestedAtUs }) => {
    const item = byId.get(runId)
    return item === undefined ? [] : [{ key: [requestedAtUs, runId], item }]
  })
}

/** Digits of an id that a person must give at least. */
export const RUN_DIGITS_MIN = 6
const DIGITS = 32

/**
 * Finds the runs whose ids begin with what a person gave: a whole id, or its first digits.
 * @returns ids, ten at most; null where the text is no id, and no beginning of one that is long enough
 */
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
