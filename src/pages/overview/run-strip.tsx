import { counted } from '../../format.ts'
import type { RowOf } from '../../database/statement.ts'
import type { runsByDay } from '../../database/statements/pages.ts'
import { Badge, Sign } from '../elements.tsx'
import type { Tone } from '../elements.tsx'

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
export function lastDays(today: Date): string[] {
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
  const told = parts.filter(([runs]) => runs > 0).map(([runs, status]) => `${runs} ${status}`)
  return `${day.day}: ${counted(day.runs, 'run')}, ${told.join(', ')}`
}
