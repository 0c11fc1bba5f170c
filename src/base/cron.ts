import { Cron } from 'croner'

/** A cron pattern in a time zone. */
export interface Schedule {
  /** Five or six fields, or a word such as `@daily`. */
  readonly cron: string
  /** IANA name. */
  readonly timeZone: string
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * When a schedule is due next. A time that a clock change skips is due at the end of the gap, if the gap ends on the same day.
 * A time that occurs twice is due the first time only. A pattern with `*` or a step in its hour, minute or second does not
 * name single times: it skips a skipped time and repeats a repeated one.
 * @param after exclusive
 * @throws Error for a pattern or a time zone that is not valid, and for a pattern that is never due
 */
export function nextDue(schedule: Schedule, after = new Date()): Date {
  const due = parse(schedule).nextRun(after)
  if (due === null)
    throw new Error(`The cron pattern ${schedule.cron} is never due in ${schedule.timeZone}.`)
  return due
}

/**
 * The next times at which a schedule is due; see {@link nextDue}.
 * @param count how many; there are fewer only where the pattern is no longer due
 * @throws Error for a pattern or a time zone that is not valid
 */
export function nextTimes(schedule: Schedule, count: number): Date[] {
  return parse(schedule).nextRuns(count)
}

/** Whether a pattern is valid. It may never be due; see {@link isEverDue}. */
export function isCronPattern(cron: string): boolean {
  return threeTimes({ cron, timeZone: 'UTC' }) !== null
}

/** Whether a valid pattern is ever due. `0 2 30 2 *` (February 30) is not. */
export function isEverDue(cron: string): boolean {
  return threeTimes({ cron, timeZone: 'UTC' })?.length === 3
}

/** Whether a pattern is due more often than once a minute: then two of three successive times are in the same minute. */
export function isTooFrequent(cron: string): boolean {
  const times = threeTimes({ cron, timeZone: 'UTC' }) ?? []
  return new Set(times.map((time) => Math.floor(time.getTime() / MINUTE_MS))).size < times.length
}

/** Whether a time zone has an IANA name that schedules can use. Offsets such as +02:00, which Node takes from 22 on, are not. */
export function isTimeZone(timeZone: string): boolean {
  return /^[A-Za-z]/.test(timeZone) && threeTimes({ cron: '@daily', timeZone }) !== null
}

/** Null for a pattern or a time zone that is not valid; empty for a pattern that is never due. */
function threeTimes(schedule: Schedule): Date[] | null {
  try {
    return nextTimes(schedule, 3)
  } catch {
    return null
  }
}

/** By pattern: workers need them every ten seconds, and computing them takes some milliseconds. */
const daysNeverDueOf = new Map<string, number[]>()

/**
 * Days of the week (1 Monday to 7 Sunday) on which a pattern is never due.
 * @throws Error for a pattern that is not valid
 */
export function daysNeverDue(cron: string): number[] {
  let days = daysNeverDueOf.get(cron)
  if (days === undefined) daysNeverDueOf.set(cron, (days = findDaysNeverDue(cron)))
  return days
}

/** Checks 366 days on which it is due, and not 366 days in a row: January 1 is on each day of the week. */
function findDaysNeverDue(cron: string): number[] {
  const pattern = parse({ cron, timeZone: 'UTC' })
  const days = new Set([1, 2, 3, 4, 5, 6, 7])
  let due = pattern.nextRun(new Date(0))
  for (let checked = 0; checked < 366 && due !== null && days.size > 0; checked += 1) {
    days.delete(due.getUTCDay() || 7)
    const endOfDay = (Math.floor(due.getTime() / DAY_MS) + 1) * DAY_MS
    due = pattern.nextRun(new Date(endOfDay - 1000))
  }
  return [...days]
}

function parse({ cron, timeZone }: Schedule): Cron {
  return new Cron(cron, {
    timezone: timeZone,
    mode: '5-or-6-parts',
    // By default only `0 2 * * *` names a single time, and `0 2,14 * * *` would be left out in a gap.
    fixedTimeRule: 'no-wildcard',
    // Takes `5/15` for `5-59/15`.
    sloppyRanges: true,
    // Otherwise croner starts a timer, which keeps the process alive.
    paused: true,
  })
}
