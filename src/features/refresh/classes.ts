import { leastBudget } from '../../core/database/definitions.ts'
import { BATCH_SCOPES } from '../../core/run/claim.ts'

/**
 * How calls are shared among threads: classes by how long a thread has been quiet, each with a weight; the class that is
 * furthest behind goes next. Pure functions.
 *
 * The mean time from a change to the poll that sees it is least where polls are in proportion to the square root of the rate of
 * change (minimise the sum of rate / (2 x polls) under a fixed sum of polls). A thread that was quiet for x changes about 0.1 to
 * 0.3 times in x, so one that was quiet four times as long is polled half as often. What the polls of each class find corrects
 * that (docs/decisions/2026-11-23-continuous-refresh.md).
 */

/** Classes 0 to 6 by quiet time. Class 7 is the whole catalog, these threads included, batch by batch. */
export const HOT_CLASSES = 7
export const EVERYTHING = HOT_CLASSES
/** Class of the polls that hints cause; it has no pass. */
export const HINTED = 8

/** What is known of how often the threads of a class change. */
export interface ClassRate {
  /** Threads in it; of class 7 all scopes of the catalog. */
  readonly threads: number
  /** Polls of about the last day that found a change. */
  readonly found: number
  /** Seconds since the poll before, summed over the polls of about the last day. */
  readonly gapS: number
}

/** What is known of a class. */
export interface ClassState extends ClassRate {
  /** Its polls so far, divided by its weight. */
  readonly virtualTime: number
  /** Whether it has a thread to poll now. */
  readonly isReady: boolean
}

/** What the budget has to reach. */
export interface Promised {
  /** Calls a second. */
  readonly budget: number
  /** Everything is polled at least so often. */
  readonly promiseS: number
}

const DAY_S = 86_400
/** Changes a second of a thread in class 0, before anything is measured. */
const FIRST_RATE = 40 / DAY_S
/** What was assumed counts as so many polls that found a change. */
const ASSUMED = 20
const LEAST_WEIGHT = 1e-9
/** The most that class 7 gets of the budget, however small the budget is. */
const EVERYTHING_MAX = 0.95

/** The part of the calls that the promise needs: above 1 it cannot be kept. */
export function neededShare(scopes: number, { budget, promiseS }: Promised): number {
  return leastBudget(scopes, promiseS) / budget
}

/**
 * The weights of all classes: polls are in proportion to them.
 * @param classes class 0 to 7
 */
export function weights(classes: readonly ClassRate[], promised: Promised): number[] {
  const byRate = classes.map(({ threads, found, gapS }, k) => {
    const assumedRate = FIRST_RATE / 4 ** (k === EVERYTHING ? EVERYTHING + 1 : k)
    const rate = (found + ASSUMED) / (gapS + ASSUMED / assumedRate)
    return threads * Math.sqrt(rate / FIRST_RATE)
  })
  const hot = byRate.slice(0, HOT_CLASSES).reduce((sum, weight) => sum + weight, 0)
  const needed = Math.min(EVERYTHING_MAX, neededShare(classes[EVERYTHING]?.threads ?? 0, promised))
  const everything = Math.max(byRate[EVERYTHING] ?? 0, (needed / (1 - needed)) * hot)
  return [...byRate.slice(0, HOT_CLASSES), everything]
}

/**
 * Which class goes next: the ready one with the least virtual time.
 * @param polls how many polls class 7 would get
 * @returns it, and its virtual time after so many more polls; null where none is ready
 */
export function nextClass(
  classes: readonly ClassState[],
  weighed: readonly number[],
  polls: number,
): { readonly chosen: number; readonly after: (polls: number) => number } | null {
  const timeOf = (of: number, count: number) => count / Math.max(weighed[of] ?? 0, LEAST_WEIGHT)
  const { virtualTime: timeOfAll } = classes[EVERYTHING] as ClassState
  // A class that had nothing to poll for a while saves nothing up. Class 7 always has, so that it is the measure.
  const least = timeOfAll - 1 - timeOf(EVERYTHING, polls)
  let best: { chosen: number; at: number } | null = null
  for (const [chosen, { isReady, virtualTime }] of classes.entries()) {
    if (!isReady || (weighed[chosen] ?? 0) <= 0) continue
    const at = chosen === EVERYTHING ? virtualTime : Math.max(virtualTime, least)
    if (best === null || at < best.at) best = { chosen, at }
  }
  if (best === null) return null
  const { at, chosen } = best
  return { chosen, after: (made) => at + timeOf(chosen, made) }
}

/** Polls are handed out for so long: short enough that no class waits long for another. */
const PAGE_S = 5
const PAGE_MIN = 8
export const PAGE_MAX = 512
/** Batches are handed out for longer, so that choosing among all batches costs little for each poll. */
const BATCHES_S = 20
const BATCHES_MAX = 8
/** No longer than this part of the promise: what is handed out together is not polled in the order of its last checks. */
const PROMISED_PART = 0.02

/** How many polls of one class are planned together. */
export function pollsAPage(promised: Promised): number {
  return Math.max(PAGE_MIN, Math.min(PAGE_MAX, Math.ceil(pollsIn(PAGE_S, promised))))
}

/** How many batches are handed out together. */
export function batchesAPage(promised: Promised): number {
  return Math.max(1, Math.min(BATCHES_MAX, Math.round(pollsIn(BATCHES_S, promised) / BATCH_SCOPES)))
}

function pollsIn(seconds: number, { budget, promiseS }: Promised): number {
  return budget * Math.min(seconds, promiseS * PROMISED_PART)
}
