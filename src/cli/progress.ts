import { SingleBar } from 'cli-progress'
import type { Database } from '../core/database/pool.ts'
import { readWaits } from '../client/run-reports.ts'
import { runPoller } from '../client/runs.ts'
import { scopesDone, scopesInAll } from '../schemas/run.ts'
import type { Run, Wait } from '../schemas/run.ts'
import { count, counted, duration, NO_WORKER } from '../schemas/format.ts'
import { note, progressNotes } from './output.ts'

/** How to show the progress of a run: a live bar, periodic lines, or nothing. */
export type ProgressStyle = 'bar' | 'lines' | 'none'

const LINE_EVERY_MS = 5_000

/** The style for this terminal. With `--json`, stderr gets only warnings. */
export function progressStyle({ json }: { json?: boolean | undefined }): ProgressStyle {
  if (json) return 'none'
  return process.stderr.isTTY ? 'bar' : 'lines'
}

/**
 * Shows the progress of a run until it is finished. It polls PostgreSQL: events of the queue are lost when the queue restarts.
 * @param options.signal ends the waiting; the run continues
 * @throws the reason of the signal; EnvironmentError if PostgreSQL does not respond for 2 minutes
 */
export async function followRun(
  database: Database,
  runId: string,
  { style, signal }: { style: ProgressStyle; signal?: AbortSignal },
): Promise<Run> {
  const view = VIEWS[style]()
  const onAway = (reason: string) =>
    note(`PostgreSQL does not respond (${reason}). Waiting for it.`)
  const nextPoll = runPoller(database, runId, { everyMs: 1_000, checks: 10, signal, onAway })
  let isAlone = false
  try {
    for (;;) {
      const run = await nextPoll()
      if (run.finishedAt !== null) return run
      if (run.workersGone && !isAlone) note(NO_WORKER)
      isAlone = run.workersGone
      // If PostgreSQL is unreachable, the next poll reports it.
      view.show(run, await readWaits(database, runId).catch(() => []))
    }
  } finally {
    view.close()
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
    // The command handles signals itself.
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

/** A batch commits about once a second: an earlier rate would be inaccurate. */
const RATE_AFTER_MS = 2_000

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
