import { lastDue } from '../../cron.ts'
import type { RunDetails } from '../../documents/run.ts'
import type { NightlySchedule } from '../../documents/schedule.ts'
import { count, counted, duration } from '../../format.ts'
import { STATUS_TONES } from '../elements.tsx'
import type { Tone } from '../elements.tsx'

/** Whether last night went well, in one line and in one sentence. */
export interface Verdict {
  readonly tone: Tone
  readonly title: string
  readonly sentence: string
}

/**
 * Judges the newest nightly run, and whether the one that was due after it did start.
 * @param known.nightly the newest one; null where there was none yet
 * @param known.setAt when a person last set the schedule; null where the settings hold
 * @param known.lateAfterMs a run that is due may begin so much later
 */
export function nightlyVerdict(known: {
  nightly: RunDetails | null
  schedule: NightlySchedule
  setAt: Date | null
  lateAfterMs: number
  now: Date
}): Verdict {
  const { nightly, schedule } = known
  if (nightly === null) {
    return {
      tone: 'idle',
      title: 'No nightly run yet',
      sentence:
        schedule.next === null
          ? 'None is scheduled.'
          : 'The first one starts when its time comes and a worker is alive.',
    }
  }
  const missedAt = missedAfter(nightly, known)
  if (missedAt !== null) {
    return {
      tone: 'bad',
      title: 'The nightly run did not start',
      sentence: `It was due at ${missedAt.toISOString().slice(0, 16).replace('T', ' ')}. A worker must be alive to start it (\`collab-sync worker\`).`,
    }
  }
  return {
    tone: STATUS_TONES[nightly.status],
    title: TITLES[nightly.status],
    sentence: nightly.problem ?? whatItDid(nightly),
  }
}

const TITLES: Record<RunDetails['status'], string> = {
  queued: 'The nightly run waits for a worker',
  running: 'The nightly run is under way',
  succeeded: 'Last night succeeded',
  partial: 'Last night succeeded in part',
  failed: 'Last night failed',
  cancelled: 'Last night’s run was cancelled',
}

/** The queue's clock may be a little ahead of PostgreSQL's. */
const CLOCKS_APART_MS = 60_000

/**
 * When the run after the newest one should have begun; null where none should have. One that is under way still is no
 * missing one, and a schedule asks for nothing before it was set.
 */
function missedAfter(
  nightly: RunDetails,
  {
    schedule: { cron, timeZone },
    setAt,
    lateAfterMs,
    now,
  }: { schedule: NightlySchedule; setAt: Date | null; lateAfterMs: number; now: Date },
): Date | null {
  if (cron === null || nightly.finishedAt === null) return null
  const due = lastDue({ cron, timeZone }, new Date(now.getTime() - lateAfterMs))
  const hasBegun = nightly.requestedAt.getTime() >= due.getTime() - CLOCKS_APART_MS
  return hasBegun || (setAt !== null && setAt > due) ? null : due
}

function whatItDid(run: RunDetails): string {
  const parts = [
    `${counted(run.scopesSucceeded, 'scope')} checked in ${duration(run.durationMs)}`,
    `${counted(run.commentsWritten, 'comment')} written`,
    `${count(run.commentsDeleted)} found deleted`,
    `${counted(run.usersWritten, 'user')} written`,
    run.usersRemoved > 0 && `${counted(run.usersRemoved, 'user')} removed`,
    run.membersRemoved > 0 && `${counted(run.membersRemoved, 'membership')} ended`,
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}
