import type { RunDetails } from '../../../documents/run.ts'
import { describeCounts, describeStates, duration } from '../../../documents/format.ts'
import { STATUS_TONES } from '../elements.tsx'
import type { Tone } from '../elements.tsx'

/** The status of the newest nightly run, as a title and a sentence. */
export interface Verdict {
  readonly tone: Tone
  readonly title: string
  readonly sentence: string
}

/**
 * Describes the newest nightly run. sync.attention reports one that did not start.
 * @param nightly null where there was none yet
 * @param next when the next one is due; null where none is scheduled
 */
export function nightlyVerdict(nightly: RunDetails | null, next: Date | null): Verdict {
  if (nightly === null) {
    return {
      tone: 'idle',
      title: 'No nightly run yet',
      sentence:
        next === null
          ? 'None is scheduled.'
          : 'The first one starts when its time comes and a worker is alive.',
    }
  }
  return {
    tone: STATUS_TONES[nightly.status],
    title: TITLES[nightly.status],
    sentence:
      nightly.problem === null ? whatItDid(nightly) : `${nightly.problem}${sinceThen(nightly)}`,
  }
}

const TITLES: Record<RunDetails['status'], string> = {
  queued: 'The nightly run waits for a worker',
  running: 'The nightly run is under way',
  succeeded: 'The last nightly run succeeded',
  partial: 'The last nightly run succeeded in part',
  failed: 'The last nightly run failed',
  cancelled: 'The last nightly run was cancelled',
}

function whatItDid(run: RunDetails): string {
  return `Scopes: ${describeCounts(run, 'scopes')}, in ${duration(run.durationMs)}. Comments: ${describeCounts(run, 'comments')}. Users: ${describeCounts(run, 'users')}.`
}

/** What became of the scopes that failed, where that has changed since the run. */
function sinceThen({ failuresByState }: RunDetails): string {
  const { resolved, leftCatalog } = failuresByState
  return resolved + leftCatalog === 0 ? '' : ` Now: ${describeStates(failuresByState)}.`
}
