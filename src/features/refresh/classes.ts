import { leastBudget } from '../../core/database/definitions.ts'

/**
 * Shares calls among threads. Threads belong to classes by how long they have been quiet. Each class has a weight, and the class
 * that is furthest behind is polled next.
 *
 * The mean time from a change to the poll that sees it is least where polls are in proportion to the square root of the rate of
 * change (minimise the sum of rate / (2 x polls) under a fixed sum of polls). A thread that was quiet four times as long is
 * assumed to change a quarter as often, so it is polled half as often. What the polls of each class find corrects that
 * (docs/decisions/2026-11-23-continuous-refresh.md).
 */

/** Classes 0 to 6 by quiet time. Class 7 is the whole catalog, these threads included, batch by batch. */
export const HOT_CLASSES = 7
export const EVERYTHING = HOT_CLASSES
/** Class of the polls of hints; it has no pass. */
export const HINTED = 8

/** How often the threads of a class change. */
export interface ClassRate {
  /** Number of threads; for class 7, of all scopes in the catalog. */
  readonly threads: number
  /** Polls of roughly the last day that found a change. */
  readonly found: number
  /** Sum of the seconds between these polls and the previous poll of the same thread. */
  readonly gapS: number
}

export interface ClassState extends ClassRate {
  /** Number of polls so far, divided by the weight. */
  readonly virtualTime: number
  /** Whether there is a thread to poll now. */
  readonly isReady: boolean
}

export interface Promised {
  /** Calls per second. */
  readonly budget: number
  /** The longest time between two polls of a scope. */
  readonly promiseS: number
}

const DAY_S = 86_400
/** Assumed changes per second of a thread in class 0, before any are measured. */
const FIRST_RATE = 40 / DAY_S
/** The assumed rate weighs as much as this number of polls that found a change. */
const ASSUMED = 20
const LEAST_WEIGHT = 1e-9
/** The largest share of the budget for class 7. */
const EVERYTHING_MAX = 0.95

/** The share of the calls that the promise requires. Above 1, it cannot be kept. */
export function neededShare(scopes: number, { budget, promiseS }: Promised): number {
  return leastBudget(scopes, promiseS) / budget
}

/** The weights of classes 0 to 7. The number of polls is proportional to them. */
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
 * Chooses the ready class with the least virtual time.
 * @param polls number of polls that class 7 would get
 * @returns the class, and a function for its virtual time after a number of polls; null if none is ready
 */
export function nextClass(
  classes: readonly ClassState[],
  weighed: readonly number[],
  polls: number,
): { readonly chosen: number; readonly after: (polls: number) => number } | null {
  const timeOf = (of: number, count: number) => count / Math.max(weighed[of] ?? 0, LEAST_WEIGHT)
  const { virtualTime: timeOfAll } = classes[EVERYTHING] as ClassState
  // A class that had nothing to poll for a while gets no extra polls. Class 7 always has some, so its time is the lower bound.
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

/** A page contains the polls of this time: short enough that no class waits long for another. */
const PAGE_S = 5
const PAGE_MIN = 8
export const PAGE_MAX = 512
/** Pages of batches are larger, because choosing among all batches takes longer. */
const BATCHES_S = 60
const SCOPES_MAX = 8_192
/** Limit of both as a share of the promise, because scopes of one page are not polled in the order of their last checks. */
const PROMISED_PART = 0.02

/** Number of polls that are planned together. */
export function pollsAPage(promised: Promised): number {
  return Math.max(PAGE_MIN, Math.min(PAGE_MAX, Math.ceil(pollsIn(PAGE_S, promised))))
}

/** Number of polls of batches that are planned together; the last batch may go beyond it. */
export function batchPollsAPage(promised: Promised): number {
  return Math.max(1, Math.min(SCOPES_MAX, Math.round(pollsIn(BATCHES_S, promised))))
}

function pollsIn(seconds: number, { budget, promiseS }: Promised): number {
  return budget * Math.min(seconds, promiseS * PROMISED_PART)
}
