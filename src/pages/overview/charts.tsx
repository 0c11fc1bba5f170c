import type { RowOf } from '../../database/statement.ts'
import type { activityByDay, runsByDay } from '../../database/statements/pages.ts'
import { count, counted } from '../../format.ts'
import { Chart, drawChart, histogram, smallMultiples } from '../charts/chart.tsx'
import { Badge, Sign } from '../elements.tsx'
import type { Tone } from '../elements.tsx'

/** Comments, edits and deletions of 30 days. */
export async function activityChart(days: readonly RowOf<typeof activityByDay>[], today: Date) {
  const byDay = new Map(days.map((day) => [day.day, day]))
  const dates = lastDays(today)
  const valuesOf = (member: 'comments' | 'edits' | 'deletions') =>
    dates.map((date) => byDay.get(date)?.[member] ?? 0)
  const [comments, edits, deletions] = [
    valuesOf('comments'),
    valuesOf('edits'),
    valuesOf('deletions'),
  ]
  const series = [
    { name: 'Comments last updated', values: comments, colour: 1 },
    { name: 'Edits noticed', values: edits, colour: 2 },
    { name: 'Deletions noticed', values: deletions, colour: 3 },
  ] as const
  const labels = dates.map((date) => date.slice(5))
  const picture = await drawChart(smallMultiples(labels, series, (px) => (px > 400 ? 4 : 7)))
  const caption = `In 30 days ${count(sum(comments))} comments were written or last updated; checks noticed ${count(sum(edits))} edits and ${count(sum(deletions))} deletions.`
  return (
    <Chart
      caption={caption}
      picture={picture}
      table={{
        heads: ['Day', 'Comments', 'Edits', 'Deletions'],
        rows: dates.map((date, place) => [
          date,
          count(comments[place] ?? 0),
          count(edits[place] ?? 0),
          count(deletions[place] ?? 0),
        ]),
      }}
    />
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}

const HOUR_S = 3600

/** Upper bounds of the ages that are kept apart; a nightly run leaves everything below 24 hours, or 26 when it is long. */
export const AGE_BOUNDS_SECONDS = [1, 6, 12, 26, 48, 7 * 24].map((hours) => hours * HOUR_S)

const NAMES = [
  'under 1 hour',
  '1 to 6 hours',
  '6 to 12 hours',
  '12 to 26 hours',
  '26 to 48 hours',
  '2 to 7 days',
  'over 7 days',
  'never checked',
]

const FRESH_GROUPS = 4

/** @param scopes one number a group, as `readCheckAges` gives them for `AGE_BOUNDS_SECONDS` */
export async function freshnessChart(scopes: readonly number[]) {
  const groups = NAMES.map((name, place) => ({ name, value: scopes[place] ?? 0 }))
  const all = scopes.reduce((sum, each) => sum + each, 0)
  const fresh = scopes.slice(0, FRESH_GROUPS).reduce((sum, each) => sum + each, 0)
  const caption =
    all === 0
      ? 'The catalog is empty.'
      : `${count(fresh)} of ${counted(all, 'scope')} were checked within the last 26 hours.`
  return (
    <Chart
      caption={caption}
      picture={await drawChart(histogram(groups))}
      table={{
        heads: ['Last checked', 'Scopes'],
        rows: groups.map(({ name, value }) => [name, count(value)]),
      }}
    />
  )
}

const DAYS = 30

type RunDay = RowOf<typeof runsByDay>

/** The runs of 30 days, a day a field: its worst run decides how it looks, and is where it leads. */
export function RunStrip({ days, today }: { days: readonly RunDay[]; today: Date }) {
  const byDay = new Map(days.map((day) => [day.day, day]))
  const dates = lastDays(today)
  return (
    <>
      <ol class="strip" aria-label="Days, the oldest first">
        {dates.map((date) => {
          const day = byDay.get(date)
          return <li key={date}>{day === undefined ? <NoRun date={date} /> : <Day day={day} />}</li>
        })}
      </ol>
      <div class="ends" aria-hidden="true">
        <span>{dates[0]}</span>
        <span>{dates.at(-1)}</span>
      </div>
      <div class="keys" aria-hidden="true">
        <Badge tone="good">all succeeded</Badge>
        <Badge tone="warn">partial</Badge>
        <Badge tone="bad">failed</Badge>
        <Badge tone="info">under way</Badge>
        <Badge tone="idle">cancelled, or none</Badge>
      </div>
    </>
  )
}

/** The last days up to this one, as `2025-11-03` in UTC. */
function lastDays(today: Date): string[] {
  return Array.from({ length: DAYS }, (_, place) =>
    new Date(today.getTime() - (DAYS - 1 - place) * 86_400_000).toISOString().slice(0, 10),
  )
}

function Day({ day }: { day: RunDay }) {
  const tone = toneOf(day)
  return (
    <a class={tone} href={`/runs/${day.worstRunId}`} title={inWords(day)}>
      <Sign tone={tone} />
      <span class="unseen">{inWords(day)}</span>
    </a>
  )
}

function NoRun({ date }: { date: string }) {
  return (
    <span class="idle" title={`${date}: no run`}>
      <span class="unseen">{date}: no run</span>
    </span>
  )
}

function toneOf(day: RunDay): Tone {
  if (day.failed > 0) return 'bad'
  if (day.partial > 0) return 'warn'
  if (day.underWay > 0) return 'info'
  return day.succeeded > 0 ? 'good' : 'idle'
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
  return `${day.day}: ${counted(day.runs, 'run')}, ${counts.join(', ')}`
}
