import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import { codeOf, isConnectionLost } from '../core/database/connection-errors.ts'
import type { Database } from '../core/database/pool.ts'
import { readRun, readWaits } from '../client/run-reports.ts'
import * as runs from '../core/database/statements/runs.ts'
import { scopesDone, scopesInAll } from '../documents/run.ts'
import type { Run, Wait } from '../documents/run.ts'
import { EnvironmentError, UsageError } from '../base/errors.ts'
import { count, counted, duration, NO_WORKER } from '../documents/format.ts'
import { note, progressNotes } from './output.ts'

/** How the progress of a run is shown: a live bar, lines now and then, or not at all. */
export type ProgressStyle = 'bar' | 'lines' | 'none'

const SHOW_EVERY_MS = 1_000
/** Between two looks whether the run is over, which cost next to nothing. */
const LOOK_EVERY_MS = 100
const LINE_EVERY_MS = 5_000
/** A PostgreSQL that restarts, or fails over, is waited for. */
const AWAY_MAX_MS = 120_000

/** The style for this terminal; a program that wants JSON gets nothing on stderr but warnings. */
export function progressStyle({ json }: { json?: boolean | undefined }): ProgressStyle {
  if (json) return 'none'
  return process.stderr.isTTY ? 'bar' : 'lines'
}

/**
 * Follows a run in PostgreSQL until it is settled: never by the queue's events, which a restart loses.
 * @param options.signal gives up following; the run goes on
 * @returns the settled run
 * @throws the signal's reason; EnvironmentError where PostgreSQL does not respond for `AWAY_MAX_MS`
 */
export async function followRun(
  database: Database,
  runId: string,
  { style, signal }: { style: ProgressStyle; signal?: AbortSignal },
): Promise<Run> {
  const view = VIEWS[style]()
  let isAlone = false
  let dueMs = 0
  try {
    for (;;) {
      const { run, waits } = await patiently(runId, signal, async () => {
        await untilOver(dueMs, database, runId, signal)
        const read = await readRun(database, runId)
        if (read === null) throw new UsageError(`There is no run ${runId} any more.`)
        if (read.finishedAt !== null) return { run: read, waits: [] }
        if (read.workersGone && !isAlone) note(NO_WORKER)
        isAlone = read.workersGone
        return { run: read, waits: await readWaits(database, runId) }
      })
      if (run.finishedAt !== null) return run
      view.show(run, waits)
      dueMs = performance.now() + SHOW_EVERY_MS
    }
  } finally {
    view.close()
  }
}

/** Waits until a time of `performance.now()`, or until the run is over. */
async function untilOver(
  dueMs: number,
  database: Database,
  runId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (performance.now() < dueMs) {
    await sleep(LOOK_EVERY_MS, undefined, signal && { signal })
    const run = await runs.isOver.first(database, { runId })
    if (run?.over !== false) return
  }
}

interface View {
  show(run: Run, waits: readonly Wait[]): void
  close(): void
}

const VIEWS: Record<ProgressStyle, () => View> = {
  bar: barView,
  lines: lineView,
  none: () => ({ show() {}, close() {} }),
}

function barView(): View {
  const bar = new SingleBar({
    format: ' {bar} {text}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: true,
    emptyOnZero: true,
    // The command ends by itself on a signal; two of them would end it twice.
    gracefulExit: false,
  })
  bar.start(1, 0, { text: 'waiting for a worker' })
  return {
    show(run, waits) {
      bar.setTotal(scopesInAll(run))
      bar.update(scopesDone(run), { text: inWords(run, waits) })
    },
    close: () => bar.stop(),
  }
}

function lineView(): View {
  const describe = (run: Run, waits: readonly Wait[]) => `${run.status}: ${inWords(run, waits)}`
  return { show: progressNotes(describe, LINE_EVERY_MS), close() {} }
}

/** Commits come about once a second: earlier than that a rate would be a guess. */
const RATE_AFTER_MS = 2_000

/** What is done so far, and the rate and the time left as the run has been on average. */
function inWords(run: Run, waits: readonly Wait[]): string {
  const [done, all] = [scopesDone(run), scopesInAll(run)]
  const hasRate = run.durationMs > RATE_AFTER_MS && done > 0
  return [
    `${count(done)} of ${counted(all, 'scope')}`,
    counted(run.calls, 'call'),
    counted(run.recordsReceived, 'record'),
    run.scopesFailed > 0 && `${count(run.scopesFailed)} failed`,
    run.scopesHeld > 0 && `${count(run.scopesHeld)} held`,
    hasRate && `${count(Math.round((1000 * run.calls) / run.durationMs))} calls/s`,
    hasRate && `${duration((run.durationMs * (all - done)) / done)} left`,
    ...waits.map(({ sentence }) => sentence),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** Reads the run by `read`, also where PostgreSQL is unavailable for a while. @throws EnvironmentError after `AWAY_MAX_MS` */
async function patiently<T>(
  runId: string,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  const giveUpAtMs = performance.now() + AWAY_MAX_MS
  for (let isReported = false; ; isReported = true) {
    signal?.throwIfAborted()
    try {
      return await read()
    } catch (error) {
      if (!mayPass(error)) throw error
      const reason = (error as Error).message
      if (performance.now() > giveUpAtMs) {
        throw new EnvironmentError(
          `PostgreSQL has not responded for ${duration(AWAY_MAX_MS)} (${reason}). The run continues when PostgreSQL is back. Check it with: collab-sync status ${runId}`,
          { cause: error },
        )
      }
      if (!isReported) note(`PostgreSQL does not respond (${reason}). Waiting for it.`)
      await sleep(1000, undefined, signal && { signal })
    }
  }
}

/** A lost connection, or a server without resources or stopped by its operator (classes 53 and 57); not a wrong statement. */
function mayPass(error: unknown): boolean {
  return isConnectionLost(error) || /^5[37]/.test(codeOf(error) ?? '')
}
