import type { RowOf } from '../../../core/database/statement.ts'
import type { activityByDay, runsByDay } from '../../../core/database/statements/pages.ts'
import { counted } from '../../../documents/format.ts'
import { BarChart } from '../charts.tsx'
import { Badge, Sign, STATUS_TONES } from '../elements.tsx'

/** Comments, edits and deletions, day by day. */
export function ActivityChart({ days }: { days: readonly RowOf<typeof activityByDay>[] }) {
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

type RunDay = RowOf<typeof runsByDay>

/** Runs by day, a day a field: its worst nightly run, else its worst run, decides how it looks, and is where it leads. */
export function RunStrip({ days }: { days: readonly RunDay[] }) {
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
