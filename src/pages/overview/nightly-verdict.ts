import { CronExpressionParser } from 'cron-parser'
import type { NightlySchedule, RunDetails } from '../../collab-sync/collab-sync.ts'
import { count, counted, duration } from '../../cli/format.ts'
import { STATUS_TONES } from '../elements.tsx'
import type { Tone } from '../elements.tsx'

/** Whether last night went well, in one line and in one sentence. */
export interface Verdict {
  readonly tone: Tone
  readonly title: string
  readonly sentence: string
}

/** A worker looks every ten seconds; one that starts anew may take minutes. */
const LATE_AFTER_MS = 15 * 60_000

/**
 * Judges the newest nightly run, and whether the one that was due after it did start.
 * @param known.nightly the newest one; null where there was none yet
 * @param known.setAt when a person last set the schedule; null where the settings hold
 */
export function nightlyVerdict(known: {
  nightly: RunDetails | null
  schedule: NightlySchedule
  setAt: Date | null
  now: Date
}): Verdict {
  const { nightly } = known
  const due = dueBefore(known)
  if (due !== null && nightly !== null && nightly.requestedAt < due) {
    return {
      tone: 'bad',
      title: 'The nightly run did not start',
      sentence: `It was due at ${due.toISOString().slice(0, 16).replace('T', ' ')} UTC. A worker must be alive to start it (\`collab-sync worker\`).`,
    }
  }
  if (nightly === null) {
    return {
      tone: 'idle',
      title: 'No nightly run yet',
      sentence:
        known.schedule.next === null
          ? 'None is scheduled.'
          : 'The first one starts when its time comes and a worker is alive.',
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

/** When a nightly run should have begun, so long ago that it cannot be just about to; null where none should have. */
function dueBefore({
  schedule,
  setAt,
  now,
}: {
  schedule: NightlySchedule
  setAt: Date | null
  now: Date
}): Date | null {
  if (schedule.cron === null) return null
  const latest = new Date(now.getTime() - LATE_AFTER_MS)
  const due = CronExpressionParser.parse(schedule.cron, {
    tz: schedule.timeZone,
    currentDate: latest,
  })
    .prev()
    .toDate()
  // The queue's clock may be a little ahead of ours.
  const asked = new Date(due.getTime() - 60_000)
  return setAt !== null && setAt > asked ? null : asked
}

function whatItDid(run: RunDetails): string {
  const parts = [
    `${counted(run.scopesSucceeded, 'scope')} checked in ${duration(run.durationMs)}`,
    `${counted(run.commentsWritten, 'comment')} written`,
    `${count(run.commentsDeleted)} found deleted`,
    `${counted(run.usersWritten, 'user')} written`,
  ]
  return `${parts.join(', ')}.`
}
