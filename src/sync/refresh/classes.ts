import { leastBudget } from '../../database/definitions.ts'
import { BATCH_SCOPES } from '../claim.ts'

/**
 * How calls are shared out among threads: classes by how long a thread has been quiet, each with a weight, and the class that
 * is furthest behind goes next. Pure: the planner and the tests read the same functions.
 *
 * The mean time from a change to the look that sees it is least where looks go with the square root of the rate of change
 * (minimise the sum of rate / (2 x looks) under a fixed sum of looks). A thread that was quiet for x changes about 0.1 to 0.3
 * times in x, so one that was quiet four times as long is looked at half as often. What the looks of each class found corrects
 * that (docs/decisions/2026-11-23-continuous-refresh.md).
 */

/** Classes 0 to 6 by quiet time; everything else, and these threads too, is swept as class 7. */
export const HOT_CLASSES = 7
export const EVERYTHING = HOT_CLASSES
/** Class of looks that somebody asked for by a hint; it has no pass. */
export const HINTED = 8

const FIRST_EDGE_S = 240

/** Quiet times of a class in seconds: from, and up to. */
export function quietTimes(of: number): { readonly fromS: number; readonly toS: number } {
  const edge = (k: number) => (k === 0 ? 0 : FIRST_EDGE_S * 4 ** (k - 1))
  return { fromS: edge(of), toS: of === EVERYTHING ? Infinity : edge(of + 1) }
}

/** What is known of a class. */
export interface ClassState {
  /** Threads in it; of class 7 all scopes of the catalog. */
  readonly threads: number
  /** Its looks so far, by its weight. */
  readonly virtualTime: number
  /** Looks of about the last day that found a change. */
  readonly found: number
  /** Seconds since the look before, summed over the looks of about the last day. */
  readonly gapS: number
  /** Whether there is a thread of it to look at now. */
  readonly isReady: boolean
}

/** What the budget has to reach. */
export interface Promised {
  /** Calls a second. */
  readonly budget: number
  /** Everything is looked at at least so often. */
  readonly promiseS: number
}

const DAY_S = 86_400
/** Changes a second of a thread in class 0, before anything is measured. */
const FIRST_RATE = 40 / DAY_S
/** What was assumed counts as so many looks that found something. */
const ASSUMED = 20
const LEAST_WEIGHT = 1e-9
/** However little the budget is, the other classes keep this part of it. */
const SWEEP_MAX = 0.95

/** The part of the calls that the promise needs: above 1 it cannot be kept. */
export function neededShare(scopes: number, { budget, promiseS }: Promised): number {
  return leastBudget(scopes, promiseS) / budget
}

/**
 * The weights of all classes: looks go in proportion to them.
 * @param classes class 0 to 7
 */
export function weights(classes: readonly ClassState[], promised: Promised): number[] {
  const byRate = classes.map(({ threads, found, gapS }, k) => {
    const assumedRate = FIRST_RATE / 4 ** (k === EVERYTHING ? EVERYTHING + 1 : k)
    const rate = (found + ASSUMED) / (gapS + ASSUMED / assumedRate)
    return threads * Math.sqrt(rate / FIRST_RATE)
  })
  const hot = byRate.slice(0, HOT_CLASSES).reduce((sum, weight) => sum + weight, 0)
  const needed = Math.min(SWEEP_MAX, neededShare(classes[EVERYTHING]?.threads ?? 0, promised))
  const swept = Math.max(byRate[EVERYTHING] ?? 0, (needed / (1 - needed)) * hot)
  return [...byRate.slice(0, HOT_CLASSES), swept]
}

/**
 * Which class goes next: the ready one with the least virtual time.
 * @param looks how many looks the sweep would get
 * @returns it, and its virtual time now; null where none is ready
 */
export function nextClass(
  classes: readonly ClassState[],
  weighed: readonly number[],
  looks: number,
): { readonly chosen: number; readonly at: number } | null {
  const { virtualTime: sweptTime } = classes[EVERYTHING] as ClassState
  // A class of which nothing was to be looked at for a while saves nothing up. The sweep never rests: it is the measure.
  const least = sweptTime - 1 - looks / Math.max(weighed[EVERYTHING] ?? 0, LEAST_WEIGHT)
  let best: { chosen: number; at: number } | null = null
  for (const [chosen, { isReady, virtualTime }] of classes.entries()) {
    if (!isReady || (weighed[chosen] ?? 0) <= 0) continue
    const at = chosen === EVERYTHING ? virtualTime : Math.max(virtualTime, least)
    if (best === null || at < best.at) best = { chosen, at }
  }
  return best
}

/** The virtual time of a class after so many looks. */
export function virtualTimeAfter(at: number, looks: number, weight: number): number {
  return at + looks / Math.max(weight, LEAST_WEIGHT)
}

/** What is learned counts half as much after a day. */
export function fadedOver(seconds: number): number {
  return 0.5 ** (Math.max(0, seconds) / DAY_S)
}

/** So much work is handed out at a time: short enough that no class waits long for another. */
const PAGE_S = 5
export const PAGE_MAX = 512
const PAGE_MIN = 8
/** Batches are handed out for longer: what a page costs is then little for each look. */
const BATCHES_S = 20
const BATCHES_MAX = 8
/** No longer than this part of the promise: what is handed out together is not looked at in the order of its last checks. */
const PROMISED_PART = 0.02
/** How many looks of one class are planned together. */
export function looksAPage({ budget, promiseS }: Promised): number {
  const seconds = Math.min(PAGE_S, promiseS * PROMISED_PART)
  return Math.max(PAGE_MIN, Math.min(PAGE_MAX, Math.ceil(budget * seconds)))
}

/** How many batches are handed out together. */
export function batchesAPage({ budget, promiseS }: Promised): number {
  const seconds = Math.min(BATCHES_S, promiseS * PROMISED_PART)
  return Math.max(1, Math.min(BATCHES_MAX, Math.round((budget * seconds) / BATCH_SCOPES)))
}
