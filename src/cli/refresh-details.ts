import type { Columns } from '../schemas/columns.ts'
import type { Refresh } from '../schemas/freshness.ts'
import { count, duration, roughAge, time } from '../schemas/format.ts'
import { printable } from '../base/printable.ts'
import { heading, paint } from './output.ts'
import { table } from './table.ts'

const DAY_S = 86_400

/** The section of `status` about continuous refresh. */
export function refreshLines(refresh: Refresh): string[] {
  const { boundS, budget, classes, delays, fault, needed, pausedSince, used } = refresh
  const rate = `${calls(budget)} calls/s (${count(Math.round(budget * DAY_S))} a day)`
  const ofHour = used === null ? 'none sent' : `${calls(used)} sent`
  return [
    heading('Refresh'),
    `  ${rate}, ${ofHour} in the last full hour; FRESHNESS_PROMISE needs ${calls(needed)}`,
    `  With this budget, every scope is checked within ${length(boundS)}.`,
    ...(fault === null ? [] : [`  ${paint.red(fault)}`]),
    ...(pausedSince === null ? [] : [`  ${paint.yellow(describePause(refresh))}`]),
    table(CLASS_COLUMNS, classes),
    ...(delays.length === 0
      ? ['  Delays of changes are available for days that ended before FRESHNESS_PROMISE.']
      : [
          heading('Delays of changes on the last final days'),
          table(delayColumns(refresh), delays),
        ]),
  ]
}

function describePause({ pausedSince, pausedUntil, pauseReason }: Refresh): string {
  const [since, until] = [pausedSince, pausedUntil].map((at) => (at === null ? '' : time(at)))
  return printable(`paused since ${since}, next try at ${until}: ${pauseReason ?? ''}`)
}

const CLASS_COLUMNS: Columns<Refresh['classes'][number]> = [
  ['quiet for', quietFor],
  ['scopes', ({ scopes }) => scopes, 'number'],
  ['checked every', ({ polledEveryS }) => length(polledEveryS), 'number'],
  ['checks per day', ({ polls }) => polls, 'number'],
  ['found', ({ found }) => found, 'number'],
  ['failed', ({ failed }) => failed, 'number'],
  ['share', ({ share }) => percent(share), 'number'],
  ['planned', ({ plannedShare }) => percent(plannedShare), 'number'],
]

function quietFor({ quietFromS, quietToS }: Refresh['classes'][number]): string {
  if (quietToS === null) return 'all'
  const to = roughAge(quietToS * 1000)
  return quietFromS === 0 ? `under ${to}` : `${roughAge((quietFromS ?? 0) * 1000)} to ${to}`
}

function delayColumns({ targetS }: Refresh): Columns<Refresh['delays'][number]> {
  return [
    ['day', ({ day }) => day],
    ['changes', ({ changes }) => changes, 'number'],
    [`within ${length(targetS)}`, ({ withinTarget }) => percent(withinTarget), 'number'],
    ['p50', ({ p50S }) => length(p50S), 'number'],
    ['p95', ({ p95S }) => length(p95S), 'number'],
    ['mean', ({ meanS }) => length(meanS), 'number'],
    ['undated', ({ undated, changes }) => percent(undated / changes), 'number'],
  ]
}

function calls(perSecond: number): string {
  return String(Number(perSecond.toPrecision(3)))
}

function percent(share: number | null): string {
  return share === null ? '' : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`
}

function length(seconds: number | null): string {
  return seconds === null ? '' : duration(seconds * 1000)
}
