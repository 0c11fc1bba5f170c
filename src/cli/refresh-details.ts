import type { Refresh } from '../documents/freshness.ts'
import { count, duration, roughAge, time } from '../documents/format.ts'
import { printable } from '../base/printable.ts'
import { heading, paint } from './output.ts'
import { numberColumns, table } from './table.ts'

const DAY_S = 86_400

/** The section of `status` about continuous refresh. */
export function refreshLines(refresh: Refresh): string[] {
  const { boundS, budget, classes, delays, fault, needed, pausedSince, targetS, used } = refresh
  const rate = `${calls(budget)} calls/s (${count(Math.round(budget * DAY_S))} a day)`
  const ofHour = used === null ? 'none sent' : `${calls(used)} sent`
  return [
    heading('Refresh'),
    `  ${rate}, ${ofHour} in the last full hour; FRESHNESS_PROMISE needs ${calls(needed)}`,
    `  With this budget, every scope is checked within ${length(boundS)}.`,
    ...(fault === null ? [] : [`  ${paint.red(fault)}`]),
    ...(pausedSince === null ? [] : [`  ${paint.yellow(describePause(refresh))}`]),
    classesTable(classes),
    ...(delays.length === 0
      ? ['  Delays of changes are available for days that ended before FRESHNESS_PROMISE.']
      : [heading('Delays of changes on the last final days'), delaysTable(delays, targetS)]),
  ]
}

function describePause({ pausedSince, pausedUntil, pauseReason }: Refresh): string {
  const [since, until] = [pausedSince, pausedUntil].map((at) => (at === null ? '' : time(at)))
  return printable(`paused since ${since}, next try at ${until}: ${pauseReason ?? ''}`)
}

function classesTable(classes: Refresh['classes']): string {
  return table(
    [
      'quiet for',
      ...numberColumns('threads', 'checked every', 'checks per day', 'found', 'failed'),
      ...numberColumns('share', 'planned'),
    ],
    classes.map((each) => [
      quietFor(each),
      count(each.threads),
      length(each.lookedAtEveryS),
      count(each.looks),
      count(each.found),
      count(each.failed),
      percent(each.share),
      percent(each.plannedShare),
    ]),
  )
}

function quietFor({ quietFromS, quietToS }: Refresh['classes'][number]): string {
  if (quietToS === null) return 'all'
  const to = roughAge(quietToS * 1000)
  return quietFromS === 0 ? `under ${to}` : `${roughAge((quietFromS ?? 0) * 1000)} to ${to}`
}

function delaysTable(delays: Refresh['delays'], targetS: number): string {
  const heads = ['changes', `within ${length(targetS)}`, 'p50', 'p95', 'mean', 'undated']
  return table(
    ['day', ...numberColumns(...heads)],
    delays.map((each) => [
      each.day,
      count(each.changes),
      percent(each.withinTarget),
      length(each.p50S),
      length(each.p95S),
      length(each.meanS),
      percent(each.undated / each.changes),
    ]),
  )
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
