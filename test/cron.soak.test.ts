import { expect, test } from 'vitest'
import { nextDue } from '../src/base/cron.ts'

/**
 * A year of every time zone that Node knows, against a clock that moves on by a quarter of an hour at a time. A time that the
 * clock skips is due when it has skipped it, if that is on the same day; a time that it shows again is not due again.
 */

const STEP_MS = 900_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BEGIN = Date.UTC(2027, 0, 1)
const END = Date.UTC(2028, 0, 1)
const AROUND_MS = 2 * DAY_MS

/** Whether a pattern names a local time, which is given as if it were UTC. */
type Matches = (local: Date) => boolean

const at = (hour: number, minute: number) => (local: Date) =>
  local.getUTCHours() === hour && local.getUTCMinutes() === minute

const NIGHTLY: [cron: string, matches: Matches] = ['0 2 * * *', at(2, 0)]
const PATTERNS: [cron: string, matches: Matches][] = [
  NIGHTLY,
  ['0 0 * * *', at(0, 0)],
  ['30 0 * * *', at(0, 30)],
  ['30 1 * * *', at(1, 30)],
  ['30 2 * * *', at(2, 30)],
  ['45 23 * * *', at(23, 45)],
  ['0 2 * * 0,3,5', (local) => at(2, 0)(local) && [0, 3, 5].includes(local.getUTCDay())],
  ['15 2,14 * * *', (local) => at(2, 15)(local) || at(14, 15)(local)],
  ['15,45 1-3 * * *', (local) => /T0[123]:[14]5/.test(local.toISOString())],
]
/** Skips and repeats what the clock does. */
const RECURRING: [cron: string, matches: Matches] = [
  '30 */2 * * *',
  (local) => local.getUTCHours() % 2 === 0 && local.getUTCMinutes() === 30,
]

test.each(Intl.supportedValuesOf('timeZone'))('%s', (timeZone) => {
  const { changes, local } = clockOf(timeZone)
  const dueOnce = (matches: Matches, from: number, to: number) => {
    const due: number[] = []
    let shown = local(from)
    for (let time = from + STEP_MS; time < to; time += STEP_MS)
      for (const now = local(time); shown < now;) {
        shown += STEP_MS
        const isSameDay = Math.floor(shown / DAY_MS) === Math.floor(now / DAY_MS)
        if (isSameDay && matches(new Date(shown)) && due.at(-1) !== time) due.push(time)
      }
    return due
  }
  const dueEachTime = (matches: Matches, from: number, to: number) => {
    const due: number[] = []
    for (let time = from; time < to; time += STEP_MS)
      if (matches(new Date(local(time)))) due.push(time)
    return due
  }

  expectDue({ cron: NIGHTLY[0], timeZone }, dueOnce(NIGHTLY[1], BEGIN, END), 5 * DAY_MS)
  for (const change of changes) {
    const around = [change - AROUND_MS, change + AROUND_MS] as const
    for (const [cron, matches] of PATTERNS)
      expectDue({ cron, timeZone }, dueOnce(matches, ...around), 3.5 * HOUR_MS)
    const [cron, matches] = RECURRING
    expectDue({ cron, timeZone }, dueEachTime(matches, ...around), 3.5 * HOUR_MS)
  }
})

/** Compares the times at which a schedule is due, one after the other and as they are found from times in between. */
function expectDue(
  schedule: { cron: string; timeZone: string },
  expected: readonly number[],
  everyMs: number,
): void {
  const [first = 0, last = 0] = [expected[0], expected.at(-1)]
  const due = [first]
  while (due.at(-1)! < last) due.push(+nextDue(schedule, new Date(due.at(-1)!)))
  expect(due, schedule.cron).toEqual(expected)
  for (let time = first + everyMs; time < last; time += everyMs) {
    const from = `${schedule.cron} from ${new Date(time).toISOString()}`
    const next = nextDue(schedule, new Date(time))
    expect(+next, from).toBe(expected.find((each) => each > time))
  }
}

/** The clock of a time zone, and when it is changed. */
function clockOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (time: number) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name ?? '') ?? []
    return Number(`${sign ?? ''}1`) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
  }
  const offsets = [{ from: -Infinity, offset: offsetAt(BEGIN) }]
  for (let time = BEGIN; time < END + DAY_MS; time += DAY_MS) {
    if (offsetAt(time) === offsets.at(-1)!.offset) continue
    let from = time - DAY_MS
    while (offsetAt(from) === offsets.at(-1)!.offset) from += STEP_MS
    offsets.push({ from, offset: offsetAt(from) })
  }
  return {
    changes: offsets.slice(1).map(({ from }) => from),
    local: (time: number) => time + offsets.findLast(({ from }) => from <= time)!.offset,
  }
}
