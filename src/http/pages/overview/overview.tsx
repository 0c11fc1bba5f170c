import type { FastifyInstance } from 'fastify'
import type { ComponentChildren } from 'preact'
import { describeMemberChange } from '../../../documents/member-change.ts'
import type { RunDetails } from '../../../documents/run.ts'
import * as observed from '../../../core/database/statements/observed.ts'
import * as pages from '../../../core/database/statements/pages.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import { readAttention } from '../../../client/waiting.ts'
import { counted, describeCounts, duration } from '../../../documents/format.ts'
import { printable } from '../../../base/printable.ts'
import { BarChart } from '../charts.tsx'
import { Ago, AskButton, Badge, Card, Sentence, Sign, STATUS_TONES, Time } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import type { PageContext } from '../page-context.ts'
import { AttentionCard } from './attention.tsx'

/** `/`: did last night succeed, when is the next run, what needs a person, and the last 30 days in pictures. */
export function overviewRoutes(app: FastifyInstance, context: PageContext): void {
  app.get('/', { config: { right: 'read' } }, async (_request, reply) => {
    return sendPage(reply, { title: 'Overview', part: '/' }, await overview(context))
  })
}

async function overview({ collabSync, database }: PageContext): Promise<ComponentChildren> {
  const newestNightly = await pages.newestNightly.first(database)
  const [nightly, schedule, freshness, attention] = await Promise.all([
    newestNightly === undefined ? null : collabSync.getRun(newestNightly.runId),
    collabSync.getSchedule(),
    collabSync.getFreshness(),
    readAttention(database),
  ])
  return (
    <>
      <div class="pair">
        <Night nightly={nightly} next={schedule.next} />
        <AttentionCard rows={attention} freshness={freshness} />
      </div>
      <MemberChanges
        changes={await observed.recent.all(database, { limit: MEMBER_CHANGES_SHOWN })}
      />
      <Card title="Runs of 30 days">
        <RunStrip days={await pages.runsByDay.all(database)} />
      </Card>
      <Card title="Comments by day">
        <ActivityChart days={await pages.activityByDay.all(database)} />
      </Card>
    </>
  )
}

/** What each status of the newest nightly run means, as a title. */
const NIGHTLY_TITLES: Record<RunDetails['status'], string> = {
  queued: 'The nightly run waits for a worker',
  running: 'The nightly run is under way',
  succeeded: 'The last nightly run succeeded',
  partial: 'The last nightly run succeeded in part',
  failed: 'The last nightly run failed',
  cancelled: 'The last nightly run was cancelled',
}

/** Whether last night went well, and when the next run is due. sync.attention reports a run that did not start. */
function Night({ nightly, next }: { nightly: RunDetails | null; next: Date | null }) {
  const tone = nightly === null ? 'idle' : STATUS_TONES[nightly.status]
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
            <p>
              <a href={`/runs/${nightly.runId}`}>
                The run of <Time at={nightly.requestedAt} />
              </a>
            </p>
          </>
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
          <AskButton action="sync" words="Sync everything now" kind="primary" />
        </div>
      </div>
    </section>
  )
}

function whatItDid(run: RunDetails): string {
  return `Scopes: ${describeCounts(run, 'scopes')}, in ${duration(run.durationMs)}. Comments: ${describeCounts(run, 'comments')}. Users: ${describeCounts(run, 'users')}.`
}

const MEMBER_CHANGES_SHOWN = 10

/** What the service sends otherwise than before, where it does. */
function MemberChanges({ changes }: { changes: readonly RowOf<typeof observed.recent>[] }) {
  if (changes.length === 0) return null
  return (
    <Card title="What the service sends has changed within a week">
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

/** Comments, edits and deletions, day by day. */
function ActivityChart({ days }: { days: readonly RowOf<typeof pages.activityByDay>[] }) {
  const series = [
    { name: 'Comments written', values: days.map((day) => day.comments), colour: 1 },
    { name: 'Edits noticed', values: days.map((day) => day.edits), colour: 2 },
    { name: 'Deletions noticed', values: days.map((day) => day.deletions), colour: 3 },
  ] as const
  const [comments, edits, deletions] = series.map(({ values }) => sum(values))
  return (
    <BarChart
      caption={`In 30 days ${counted(comments ?? 0, 'comment')} ${comments === 1 ? 'was' : 'were'} written; checks noticed ${counted(edits ?? 0, 'edit')} and ${counted(deletions ?? 0, 'deletion')}.`}
      label="Comments by day"
      placeHead="Day"
      places={days.map(({ day }, place) => ({
        name: day,
        axisLabel: (days.length - 1 - place) % 7 === 0 ? AXIS_DAY.format(new Date(day)) : null,
      }))}
      series={series}
    />
  )
}

const AXIS_DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}

type RunDay = RowOf<typeof pages.runsByDay>

/** Runs by day, a day a field: its worst nightly run, else its worst run, decides how it looks, and is where it leads. */
function RunStrip({ days }: { days: readonly RunDay[] }) {
  return (
    <>
      <ol class="strip" aria-label="Days, the oldest first">
        {days.map((day) => (
          <li key={day.day}>
            <Day day={day} />
          </li>
        ))}
      </ol>
      <div class="ends" aria-hidden="true">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </div>
      <div class="keys" aria-hidden="true">
        <Badge tone="good">succeeded</Badge>
        <Badge tone="warn">partial</Badge>
        <Badge tone="bad">failed</Badge>
        <Badge tone="info">under way</Badge>
        <Badge tone="idle">cancelled, or none</Badge>
      </div>
    </>
  )
}

function Day({ day }: { day: RunDay }) {
  const tone = day.shownStatus === null ? 'idle' : STATUS_TONES[day.shownStatus]
  const words = <span class="unseen">{inWords(day)}</span>
  if (day.shownRunId === null) {
    return (
      <span class={tone} title={inWords(day)}>
        {words}
      </span>
    )
  }
  return (
    <a class={tone} href={`/runs/${day.shownRunId}`} title={inWords(day)}>
      <Sign tone={tone} />
      {words}
    </a>
  )
}

function inWords(day: RunDay): string {
  const parts = [
    [day.succeeded, 'succeeded'],
    [day.partial, 'partial'],
    [day.failed, 'failed'],
    [day.cancelled, 'cancelled'],
    [day.underWay, 'under way'],
  ] as const
  const counts = parts.filter(([runs]) => runs > 0).map(([runs, status]) => `${runs} ${status}`)
  const night = day.isNightly ? `nightly run ${day.shownStatus}; ` : ''
  return `${day.day}: ${night}${[day.runs === 0 ? 'no run' : counted(day.runs, 'run'), ...counts].join(', ')}`
}
