import { describeBlocked } from '../../notify/blocked-worker.ts'
import { describeTrouble, mendTrouble } from '../../notify/catalog-trouble.ts'
import type { CatalogTrouble } from '../../notify/catalog-trouble.ts'
import type { RowOf } from '../../database/statement.ts'
import type * as pages from '../../database/statements/pages.ts'
import type * as workers from '../../database/statements/workers.ts'
import { count, counted, roughAge } from '../../format.ts'
import type { Freshness } from '../../documents/freshness.ts'
import type { RunDetails } from '../../documents/run.ts'
import type { NightlySchedule } from '../../documents/schedule.ts'
import type { Tone } from '../elements.tsx'

/** Something that waits for a person, and where it is dealt with. */
export interface Need {
  readonly tone: Tone
  readonly sentence: string
  readonly path: string
  readonly words: string
}

/** Counts of what waits stop here. */
export const WAITING_MAX = 1000

/** What needs a person now, the worst first; empty where nothing does. */
export function needsOf(known: {
  nightly: RunDetails | null
  schedule: NightlySchedule
  freshness: Freshness
  waiting: RowOf<typeof pages.waiting>
  troubles: readonly CatalogTrouble[]
  workersAlive: number
  workersBlocked: readonly RowOf<typeof workers.blocked>[]
  isRunUnderWay: boolean
  now: Date
}): Need[] {
  const { nightly, schedule, freshness, waiting, troubles, workersAlive } = known
  const nightlyFailing = nightly?.failuresByState.failing ?? 0
  const needs: (Need | false)[] = [
    freshness.scopes === 0 && {
      tone: 'warn',
      sentence: 'The catalog is empty, so there is nothing to sync: `collab-sync catalog import`.',
      path: '/organizations',
      words: 'Organizations',
    },
    workersAlive === 0 &&
      (known.isRunUnderWay || schedule.cron !== null) && {
        tone: known.isRunUnderWay ? 'bad' : 'warn',
        sentence: `No worker is alive: ${known.isRunUnderWay ? 'the run that is under way waits for one' : 'the nightly run will not start without one'} (\`collab-sync worker\`).`,
        path: '/runs',
        words: 'Runs',
      },
    ...known.workersBlocked.map((each): Need => ({
      tone: 'bad',
      sentence: describeBlocked(each),
      path: '/runs',
      words: 'Runs',
    })),
    nightly !== null &&
      nightlyFailing > 0 && {
        tone: 'bad',
        sentence: `${counted(nightlyFailing, 'scope')} of the last nightly run still ${nightlyFailing === 1 ? 'fails' : 'fail'}.`,
        path: `/runs/${nightly.runId}`,
        words: 'See why, and retry just those',
      },
    freshness.overdue > 0 && {
      tone: 'bad',
      sentence: `${counted(freshness.overdue, 'scope')} had no good check within ${roughAge(freshness.promiseS * 1000)}, the promise (FRESHNESS_PROMISE).`,
      path: '/organizations',
      words: 'See which',
    },
    freshness.failing > 0 &&
      nightlyFailing === 0 && {
        tone: 'bad',
        sentence: `${counted(freshness.failing, 'scope')} failed when ${freshness.failing === 1 ? 'it was' : 'they were'} last asked for.`,
        path: '/organizations',
        words: 'See where',
      },
    ...troubles.map((each): Need => ({
      tone: 'bad',
      sentence: `${describeTrouble(each)} ${mendTrouble(each)}`,
      path: '/organizations',
      words: 'Organizations',
    })),
    waiting.held > 0 && {
      tone: 'warn',
      sentence: `${most(waiting.held, 'listing')} lacked so many users that nobody was removed.`,
      path: '/held',
      words: 'Look, and accept what is right',
    },
    waiting.rejected > 0 && {
      tone: 'warn',
      sentence: `${most(waiting.rejected, 'record')} could not be stored.`,
      path: '/held#rejected',
      words: 'See why',
    },
    freshness.scopes > 0 &&
      freshness.neverChecked > 0 &&
      !known.isRunUnderWay && {
        tone: 'info',
        sentence: `${counted(freshness.neverChecked, 'scope')} of the catalog ${freshness.neverChecked === 1 ? 'was' : 'were'} never checked yet.`,
        path: '/organizations',
        words: 'Organizations',
      },
    schedule.cron === null && {
      tone: 'info',
      sentence: 'No nightly run is scheduled.',
      path: '/schedule',
      words: 'Set one',
    },
  ]
  return needs
    .filter((need) => need !== false)
    .toSorted((a, b) => URGENCY.indexOf(a.tone) - URGENCY.indexOf(b.tone))
}

const URGENCY: readonly Tone[] = ['bad', 'warn', 'info']

function most(n: number, noun: string): string {
  return n >= WAITING_MAX ? `${count(WAITING_MAX)} ${noun}s or more` : counted(n, noun)
}
