import type { FastifyInstance } from 'fastify'
import type { ComponentChildren } from 'preact'
import { describeMemberChange } from '../../../schemas/member-change.ts'
import type { RunDetails } from '../../../schemas/run.ts'
import * as observed from '../../../core/database/statements/observed.ts'
import * as pages from '../../../core/database/statements/pages.ts'
import * as scopes from '../../../core/database/statements/scopes.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import { readAttention } from '../../../client/waiting.ts'
import { STATUS_TONES, statusOf } from '../../../schemas/columns.ts'
import type { Columns } from '../../../schemas/columns.ts'
import { describeCounts, duration } from '../../../schemas/format.ts'
import { printable } from '../../../base/printable.ts'
import { Ago, ActionButton, Card, Sentence, Sign, Time } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import type { PageContext } from '../page-context.ts'
import { ResolvedBy } from '../runs/run-parts.tsx'
import { Table } from '../tables.tsx'
import { AttentionCard } from './attention.tsx'
import { Nights } from './nights.tsx'
import { PaceCard } from './pace.tsx'

/** `/`: the last nightly run, the next one, open problems, and the last 30 nights and days. */
export function overviewRoutes(app: FastifyInstance, context: PageContext): void {
  app.get('/', { config: { right: 'read' } }, async (_request, reply) => {
    return sendPage(reply, { title: 'Overview', part: '/' }, await overview(context))
  })
}

async function overview({ collabSync, database }: PageContext): Promise<ComponentChildren> {
  const newestNightly = await pages.newestNightly.first(database)
  const [nightly, schedule, freshness, attention, nights, days, complete, pace] = await Promise.all(
    [
      newestNightly === undefined ? null : collabSync.getRun(newestNightly.runId),
      collabSync.getSchedule(),
      scopes.freshness.one(database),
      readAttention(database),
      pages.nights.all(database),
      pages.days.all(database),
      pages.completeUpTo.first(database),
      collabSync.getPace(),
    ],
  )
  return (
    <>
      <div class="pair">
        <Night
          nightly={nightly}
          completeUpTo={complete?.completeUpTo ?? null}
          next={schedule.next}
        />
        <AttentionCard rows={attention} freshness={freshness} />
      </div>
      <MemberChanges
        changes={await observed.recent.all(database, { limit: MEMBER_CHANGES_SHOWN })}
      />
      <NightsAndDays nights={nights} days={sinceFirstActivity(days)} />
      <PaceCard pace={pace} />
    </>
  )
}

/** The last nights as a picture, and the last days as a table, which is open while the schedule has started no run. */
function NightsAndDays({
  nights,
  days,
}: {
  nights: readonly RowOf<typeof pages.nights>[]
  days: readonly RowOf<typeof pages.days>[]
}) {
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

/** The titles for the newest nightly run, by status. */
const NIGHTLY_TITLES: Record<RunDetails['status'], string> = {
  queued: 'The nightly run is waiting for a worker',
  running: 'The nightly run is in progress',
  succeeded: 'The last nightly run succeeded',
  partial: 'The last nightly run succeeded partially',
  failed: 'The last nightly run failed',
  cancelled: 'The last nightly run was cancelled',
}

/** The result of the last nightly run, and when the next one is due. sync.attention reports a run that did not start. */
function Night({
  nightly,
  completeUpTo,
  next,
}: {
  nightly: RunDetails | null
  completeUpTo: Date | null
  next: Date | null
}) {
  const isResolved = nightly !== null && nightly.resolvedBy !== null
  const tone = nightly === null ? 'idle' : isResolved ? 'info' : STATUS_TONES[nightly.status]
  return (
    <section class={`card verdict ${tone}`}>
      <Sign tone={tone} />
      <div>
        <h2>{nightly === null ? 'No nightly run yet' : NIGHTLY_TITLES[nightly.status]}</h2>
        {nightly !== null && (
          <>
            <p>
              <Sentence of={nightly.problem ?? whatItDid(nightly)} />
            </p>
            <ResolvedBy run={nightly} />
            <p>
              <a href={`/runs/${nightly.runId}`}>
                The run of <Time at={nightly.requestedAt} />
              </a>
            </p>
          </>
        )}
        {completeUpTo !== null && (
          <p>
            The tables are complete up to <Time at={completeUpTo} />.
          </p>
        )}
        <p class="soft">
          {next === null ? (
            'No next nightly run is scheduled.'
          ) : (
            <>
              The next nightly run is due <Ago at={next} />, at <Time at={next} />.
            </>
          )}
        </p>
        <div class="row">
          <ActionButton action="sync" words="Sync everything now" kind="primary" />
        </div>
      </div>
    </section>
  )
}

function whatItDid(run: RunDetails): string {
  return `Scopes: ${describeCounts(run, 'scopes')}, in ${duration(run.durationMs)}. Comments: ${describeCounts(run, 'comments')}. Users: ${describeCounts(run, 'users')}.`
}

const MEMBER_CHANGES_SHOWN = 10

/** Changes in the structure of the service's records. */
function MemberChanges({ changes }: { changes: readonly RowOf<typeof observed.recent>[] }) {
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

/** Each day with its worst run, and what runs and authors did to comments. */
const DAY_COLUMNS: Columns<RowOf<typeof pages.days>> = [
  ['day', ({ day }) => day, 'nowrap'],
  [
    'worst run',
    ({ runId, status }) =>
      runId && status && { words: [statusOf({ status, stopping: null }), { runId }] },
    'nowrap',
  ],
  ['runs', ({ runs }) => runs, 'number'],
  ['comments stored by runs', ({ stored }) => stored, 'number'],
  ['comments by authors', ({ comments }) => comments, 'number'],
  ['edits found', ({ edits }) => edits, 'number'],
  ['deletions found', ({ deletions }) => deletions, 'number'],
]
