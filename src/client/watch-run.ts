import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/pool.ts'
import { readRun } from '../database/run-reports.ts'
import { tellingAway } from '../database/server.ts'
import type { Run } from '../documents/run.ts'
import { isRunId } from '../documents/check.ts'
import { EnvironmentError, UsageError } from '../errors.ts'

const POLL_MS = 500
/** A PostgreSQL that restarts, or fails over, is waited for. */
const AWAY_MAX_MS = 120_000

/**
 * A run as it is, then each time something of it changed, its settled state last. One small query a look; nothing is open
 * between two of them.
 * @throws UsageError where there is no such run; EnvironmentError where PostgreSQL is away at first, or stays away; the
 *   signal's reason
 */
export async function* watchRun(
  database: Database,
  runId: string,
  signal?: AbortSignal,
): AsyncGenerator<Run, void, undefined> {
  signal?.throwIfAborted()
  let run = await tellingAway(database, () => requireRun(database, runId))
  for (;;) {
    yield run
    if (run.finishedAt !== null) return
    run = await nextChange(database, run, signal)
  }
}

async function nextChange(
  database: Database,
  before: Run,
  signal: AbortSignal | undefined,
): Promise<Run> {
  let seenAtMs = performance.now()
  for (;;) {
    // Jitter, so that those who watch one run do not all come at once.
    await sleepUnlessAborted(POLL_MS * (0.8 + Math.random() * 0.4), signal)
    try {
      const run = await tellingAway(database, () => requireRun(database, before.runId))
      if (contentOf(run) !== contentOf(before)) return run
      seenAtMs = performance.now()
    } catch (error) {
      const isPatient = performance.now() - seenAtMs < AWAY_MAX_MS
      if (!(error instanceof EnvironmentError) || !isPatient) throw error
    }
  }
}

/** All but what the clock changes. */
function contentOf(run: Run): string {
  return JSON.stringify({ ...run, readAt: null, durationMs: null })
}

/** @throws the signal's reason, not the timer's error that hides it */
async function sleepUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {})
  signal?.throwIfAborted()
}

/** One run as it is now. @throws UsageError where there is none */
export async function requireRun(database: Database, runId: string): Promise<Run> {
  return (isRunId(runId) ? await readRun(database, runId) : null) ?? thereIsNone(runId)
}

/** @throws UsageError always */
export function thereIsNone(runId: unknown): never {
  throw new UsageError(`There is no run ${JSON.stringify(runId)}.`)
}
