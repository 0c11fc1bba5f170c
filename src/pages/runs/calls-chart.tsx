import { count, duration } from '../../format.ts'
import type { CallsPart } from '../../database/run-course.ts'
import { Chart } from '../charts/chart.tsx'
import { drawChart } from '../charts/draw-chart.ts'
import { smallMultiples } from '../charts/small-multiples.ts'

/** Parts of a run's time that its calls are told by. */
export const CALLS_PARTS = 24

/** Calls, retries and the time of a call over a run; counted where the batch that made them ended. */
export async function callsChart(parts: readonly CallsPart[]) {
  const labels = parts.map(({ fromMs }) => (fromMs === 0 ? '0' : duration(fromMs)))
  const series = [
    { name: 'Calls', values: parts.map(({ calls }) => calls), colour: 1 },
    { name: 'Of them retries', values: parts.map(({ retries }) => retries), colour: 2 },
    {
      name: 'Milliseconds a call',
      values: parts.map(({ meanMs }) => (meanMs === null ? null : Math.round(meanMs))),
      colour: 4,
    },
  ] as const
  const picture = await drawChart(smallMultiples(labels, series, (px) => (px > 400 ? 6 : 12)))
  const slowest = Math.max(0, ...parts.map(({ meanMs }) => meanMs ?? 0))
  const caption = `Calls whose answers were committed; in the slowest part of the run a call took ${duration(slowest)} on average.`
  return (
    <Chart
      caption={caption}
      picture={picture}
      table={{
        heads: ['From its begin', 'Calls', 'Retries', 'A call'],
        rows: parts.map((part, place) => [
          labels[place] as string,
          count(part.calls),
          count(part.retries),
          part.meanMs === null ? '–' : duration(part.meanMs),
        ]),
      }}
    />
  )
}
