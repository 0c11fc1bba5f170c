import { count } from '../../format.ts'
import type { RowOf } from '../../database/statement.ts'
import type { activityByDay } from '../../database/statements/pages.ts'
import { Chart } from '../charts/chart.tsx'
import { drawChart } from '../charts/draw-chart.ts'
import { smallMultiples } from '../charts/small-multiples.ts'
import { lastDays } from './run-strip.tsx'

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
