import type { FastifyInstance } from 'fastify'
import { describeMemberChange } from '../../../schemas/member-change.ts'
import { STORED_SUBJECTS } from '../../../schemas/counts.ts'
import { scopesDone, scopesInAll } from '../../../schemas/run.ts'
import type { RunDetails } from '../../../schemas/run.ts'
import * as observed from '../../../core/database/statements/observed.ts'
import * as pages from '../../../core/database/statements/pages.ts'
import * as scopes from '../../../core/database/statements/scopes.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import { readAttention } from '../../../client/waiting.ts'
import { STATUS_TONES, statusOf } from '../../../schemas/columns.ts'
import type { Columns, Tone } from '../../../schemas/columns.ts'
import { count, describeCounts, duration } from '../../../schemas/format.ts'
import { printable } from '../../../base/printable.ts'
import { Ago, ActionButton, capitalized, Card, Sentence, Sign, Time } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { READ } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { ResolvedBy } from '../runs/run-parts.tsx'
import { Table } from '../tables.tsx'
import { AttentionCard } from './attention.tsx'
import { Nights } from './nights.tsx'
import { PaceCard } from './pace.tsx'

/** `/`: the last nightly run, the next one, open problems, and the last 30 nights and days. */
export function overviewRoutes(app: FastifyInstance, context: PageContext): void {
  app.get('/', READ, async (_request, reply) => {
    const read = await readOverview(context)
    return sendPage(
      reply,
      { title: 'Overview', part: '/' },
      <>
        <div class="pair">
          <LastRun {...read} />
          <AttentionCard rows={read.attention} freshness={read.freshness} />
        </div>
        <MemberChanges {...read} />
        <NightsAndDays {...read} />
        <PaceCard pace={read.pace} />
      </>,
    )
  })
}

type Overview = Awaited<ReturnType<typeof readOverview>>

async function readOverview(context: PageContext) {
  const { collabSync, database } = context
  const [last, freshness, attention, nights, days, pace, changes] = await Promise.all([
    readLastRun(context),
    scopes.freshness.one(database),
    readAttention(database),
    pages.nights.all(database),
    pages.days.all(database),
    collabSync.getPace(),
    observed.recent.all(database, { limit: MEMBER_CHANGES_SHOWN }),
  ])
  return { ...last, freshness, attention, nights, days: sinceFirstActivity(days), pace, changes }
}

async function readLastRun({ collabSync, database }: PageContext) {
  const schedule = await collabSync.getSchedule()
  const newest = await pages.newestWhole.one(database, { ofAnyTrigger: schedule.next === null })
  const run = newest.runId === null ? null : await collabSync.getRun(newest.runId)
  return { schedule, newest, run }
}

/** The last nights as a picture, and the last days as a table, which is open while the schedule has started no run. */
function NightsAndDays({ nights, days }: Overview) {
  if (nights.length === 0 && days.length === 0) return null
  return (
    <Card title={nights.length === 0 ? 'The last 30 days' : 'The last nights'}>
      {nights.length > 0 && <Nights nights={nights} />}
      <details id="days" open={nights.length === 0}>
        <summary>Runs and changed comments by day</summary>
        <Table
          caption="Runs and changed comments by day, the newest first"
          isTitled
          rows={days}
          columns={DAY_COLUMNS}
        />
      </details>
    </Card>
  )
}

/** The days without those before the first that has a run or a comment. */
function sinceFirstActivity(days: readonly RowOf<typeof pages.days>[]) {
  const first = days.findLastIndex(
    ({ runs, comments, edits, deletions }) => runs + comments + edits + deletions > 0,
  )
  return days.slice(0, first + 1)
}

const OUTCOMES: Record<RunDetails['status'], string> = {
  queued: 'is waiting for a worker',
  running: 'is in progress',
  succeeded: 'succeeded',
  partial: 'succeeded partially',
  failed: 'failed',
  cancelled: 'was cancelled',
}

/** The result of the last nightly run, or without a schedule of the last run of everything, and when the next one is due. */
function LastRun(read: Overview) {
  const { schedule, newest, run, nights, attention, pace } = read
  const { completeUpTo } = newest
  const night = nights.at(-1)
  // The last night, if no run was started for it.
  const unstarted = schedule.next !== null && night?.runId === null ? night : null
  const tone = unstarted === null ? toneOf(run) : unstarted.status === 'missed' ? 'bad' : 'idle'
  const hasCatalog = !attention.some(({ kind }) => kind === 'catalog_empty')
  const mayStart = hasCatalog && pace.pause === null && run?.finishedAt !== null
  return (
    <section class={`card verdict ${tone}`}>
      <Sign tone={tone} />
      <div>
        <h2>
          {unstarted !== null
            ? UNSTARTED[unstarted.status]
            : run === null
              ? `No ${schedule.next === null ? 'run of everything' : 'nightly run'} yet`
              : titleOf(run)}
        </h2>
        {unstarted !== null && (
          <>
            <p>
              It was due at <Time at={unstarted.dueAt} />.
            </p>
            {run !== null && (
              <p>
                <a href={`/runs/${run.runId}`}>
                  The nightly run of <Time at={run.requestedAt} />
                </a>{' '}
                {OUTCOMES[run.status]}.
              </p>
            )}
          </>
        )}
        {unstarted === null && run !== null && (
          <>
            <p>
              <Sentence of={run.problem ?? whatItDid(run)} />
            </p>
            <ResolvedBy run={run} />
            <p>
              <a href={`/runs/${run.runId}`}>
                The run of <Time at={run.requestedAt} />
              </a>
            </p>
          </>
        )}
        {completeUpTo !== null && (
          <p>
            The tables are complete up to <Time at={completeUpTo} />.
          </p>
        )}
        <NextRun {...read} />
        <div class="row">
          <ActionButton
            action="sync"
            words="Sync everything now"
            kind={mayStart ? 'primary' : 'quiet'}
          />
        </div>
      </div>
    </section>
  )
}

const UNSTARTED: Readonly<Record<string, string>> = {
  missed: 'The last nightly run did not start',
  paused: 'The last nightly run did not start: the calls were paused',
  due: 'The nightly run is due and has not started yet',
}

function toneOf(run: RunDetails | null): Tone {
  if (run === null) return 'idle'
  return run.resolvedBy === null ? STATUS_TONES[run.status] : 'info'
}

function titleOf(run: RunDetails): string {
  const kind = run.trigger === 'schedule' ? 'nightly run' : 'run of everything'
  return `The ${run.finishedAt === null ? '' : 'last '}${kind} ${OUTCOMES[run.status]}`
}

/** When the next nightly run is due, and what delays it and runs that start now. */
function NextRun({ schedule: { next }, attention, pace: { pause } }: Overview) {
  // Without a catalog, a worker has nothing to sync.
  const hasWorker = !attention.some(({ kind }) => kind === 'no_worker' || kind === 'catalog_empty')
  return (
    <>
      {pause !== null && (
        <p>
          All calls are paused until <Time at={pause.until} />. Runs wait until then.
        </p>
      )}
      <p class="soft">
        {next === null ? (
          <>
            No nightly run is scheduled. <a href="/schedule">Set a schedule</a>
          </>
        ) : (
          <>
            The next nightly run is due <Ago at={next} />, at <Time at={next} />
            {pause !== null && next < pause.until
              ? ', and starts when the pause ends.'
              : hasWorker
                ? '.'
                : ', and starts only if a worker is running.'}
          </>
        )}
      </p>
    </>
  )
}

function whatItDid(run: RunDetails): string {
  if (run.status === 'queued') return 'No scope is done yet.'
  if (run.finishedAt === null)
    return `${count(scopesDone(run))} of ${count(scopesInAll(run))} scopes are done, after ${duration(run.durationMs)}.`
  const stored = STORED_SUBJECTS.map((of) => ` ${capitalized(of)}: ${describeCounts(run, of)}.`)
  return `Scopes: ${describeCounts(run, 'scopes')}, in ${duration(run.durationMs)}.${stored.join('')}`
}

const MEMBER_CHANGES_SHOWN = 10

function MemberChanges({ changes }: Overview) {
  if (changes.length === 0) return null
  return (
    <Card title="Changes in the service's records this week">
      <ul>
        {changes.map((change) => (
          <li key={`${change.object} ${change.change} ${change.member}`}>
            <Ago at={change.noticedAt} />: {printable(describeMemberChange(change))}
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Each day with the worst status of its runs, and what runs and authors did to comments. */
const DAY_COLUMNS: Columns<RowOf<typeof pages.days>> = [
  ['day', ({ day }) => day, 'nowrap'],
  [
    'status',
    ({ runId, status }) =>
      runId && status && { words: [statusOf({ status, stopping: null }), { runId }] },
    'nowrap',
  ],
  ['runs', ({ runs }) => runs, 'number'],
  ['comments stored', ({ stored }) => stored, 'number'],
  ['comments written by authors', ({ comments }) => comments, 'number'],
  ['edits found', ({ edits }) => edits, 'number'],
  ['deletions found', ({ deletions }) => deletions, 'number'],
]
