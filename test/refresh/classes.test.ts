import { expect, test } from 'vitest'
import {
  batchPollsAPage,
  EVERYTHING,
  HOT_CLASSES,
  pollsAPage,
  neededShare,
  nextClass,
  weights,
} from '../../src/features/refresh/classes.ts'
import type { ClassState } from '../../src/features/refresh/classes.ts'

const DAY = 86_400
const SIZES = [12, 40, 130, 400, 1200, 3600, 11_000]

function classes(threads: readonly number[] = SIZES, scopes = 400_000): ClassState[] {
  return [...threads, scopes].map((each) => ({
    threads: each,
    virtualTime: 0,
    found: 0,
    gapS: 0,
    isReady: true,
  }))
}

test('a thread that has been quiet four times as long is looked at half as often', () => {
  const weighed = weights(classes(), { budget: 1000, promiseS: 7 * DAY })
  for (let each = 1; each < HOT_CLASSES; each += 1) {
    const [before = 0, now = 0] = [weighed[each - 1], weighed[each]]
    expect(now / (SIZES[each] ?? 1) / (before / (SIZES[each - 1] ?? 1))).toBeCloseTo(0.5)
  }
})

test('what looks find counts: a class in which nothing changes loses its weight', () => {
  const promised = { budget: 1000, promiseS: 365 * DAY }
  const quiet = classes().map((each) => ({ ...each, gapS: each.threads * DAY }))
  const busy = quiet.map((each) => ({ ...each, found: each.threads * 40 }))
  expect(weights(quiet, promised)[0]).toBeLessThan(weights(classes(), promised)[0] ?? 0)
  expect(weights(busy, promised)[4]).toBeGreaterThan(weights(classes(), promised)[4] ?? 0)
})

test.each([
  [2 * DAY, 10],
  [DAY, 5],
  [7 * DAY, 1],
])('the sweep gets what a promise of %d s needs of %d calls a second', (promiseS, budget) => {
  const promised = { budget, promiseS }
  const weighed = weights(classes(), promised)
  const all = weighed.reduce((sum, weight) => sum + weight, 0)
  const needed = Math.min(0.95, neededShare(400_000, promised))
  expect((weighed[EVERYTHING] ?? 0) / all).toBeGreaterThanOrEqual(needed - 1e-9)
})

test('over time each class gets looks within 10 % of its weight', () => {
  const promised = { budget: 100, promiseS: 7 * DAY }
  const state = classes()
  const looks = state.map(() => 0)
  for (let page = 0; page < 3000; page += 1) {
    const weighed = weights(state, promised)
    const next = nextClass(state, weighed, 500)
    if (next === null) throw new Error('No class is ready.')
    const { after, chosen } = next
    // A pass ends with a page that is not full.
    const made = chosen < EVERYTHING && page % 3 === 0 ? Math.min(300, SIZES[chosen] ?? 0) : 500
    looks[chosen] = (looks[chosen] ?? 0) + made
    state[chosen] = { ...(state[chosen] as ClassState), virtualTime: after(made) }
  }
  const weighed = weights(state, promised)
  const [allLooks, allWeights] = [looks, weighed].map((each) =>
    each.reduce((sum, one) => sum + one, 0),
  )
  for (const [of, weight] of weighed.entries()) {
    const share = (looks[of] ?? 0) / (allLooks ?? 1) / (weight / (allWeights ?? 1))
    expect(share, `class ${of}`).toBeGreaterThan(0.9)
    expect(share, `class ${of}`).toBeLessThan(1.1)
  }
})

test('a class that rested saves nothing up, and one without threads is not chosen', () => {
  const state = classes().map((each) => ({ ...each, virtualTime: 1000 }))
  state[3] = { ...(state[3] as ClassState), virtualTime: 0 }
  const weighed = weights(state, { budget: 100, promiseS: 7 * DAY })
  const next = nextClass(state, weighed, 500)
  expect(next?.chosen).toBe(3)
  expect(next?.after(0)).toBeGreaterThan(1000 - 1 - 500 / (weighed[EVERYTHING] ?? 1) - 1e-6)
  expect(nextClass(classes([0, 0, 0, 0, 0, 0, 0]), [0, 0, 0, 0, 0, 0, 0, 1], 8)?.chosen).toBe(
    EVERYTHING,
  )
  expect(nextClass(classes([0, 0, 0, 0, 0, 0, 0], 0), [0, 0, 0, 0, 0, 0, 0, 0], 8)).toBeNull()
})

test('what is handed out together is a small part of the promise', () => {
  expect(pollsAPage({ budget: 0.2, promiseS: 3 * DAY })).toBe(8)
  expect(pollsAPage({ budget: 40, promiseS: 75 })).toBe(60)
  expect(pollsAPage({ budget: 100, promiseS: DAY })).toBe(500)
  expect(pollsAPage({ budget: 10_000, promiseS: DAY })).toBe(512)
  expect(batchPollsAPage({ budget: 40, promiseS: 75 })).toBe(60)
  expect(batchPollsAPage({ budget: 100, promiseS: DAY })).toBe(6000)
})
