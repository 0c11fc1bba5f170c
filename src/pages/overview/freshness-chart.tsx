import { count, counted } from '../../format.ts'
import { Chart } from '../charts/chart.tsx'
import { drawChart } from '../charts/draw-chart.ts'
import { histogram } from '../charts/histogram.ts'

const HOUR_S = 3600

/** Upper bounds of the ages that are told apart; a nightly run leaves everything below 24 hours, or 26 when it is long. */
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
