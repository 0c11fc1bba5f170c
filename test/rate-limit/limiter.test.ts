import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DrainingError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { NO_RATE_LIMIT } from '../../src/core/service/shared-rate-limit.ts'
import { MAX_PAUSE_MS, RateLimiter } from '../../src/core/rate-limit/limiter.ts'
import type { RateLimitStore, Spacing, Taken } from '../../src/core/rate-limit/limiter.ts'
import { sleep } from '../../src/base/abort.ts'

/** What the processes share, as a test wants it to be. */
class Store implements RateLimitStore {
  readonly server = 'Redis'
  readonly taken: { slots: number; spacing: Spacing; atMs: number }[] = []
  readonly pauses: number[] = []
  asked = 0
  answer: Taken = { pauseMs: 0, waitMs: 0 }
  pausedMs = 0
  isAway = false

  async take(slots: number, spacing: Spacing): Promise<Taken> {
    this.#reach()
    this.taken.push({ slots, spacing, atMs: Date.now() })
    return this.answer
  }

  async pause(ms: number): Promise<void> {
    this.#reach()
    this.pauses.push(ms)
  }

  async pauseMs(): Promise<number> {
    this.asked += 1
    this.#reach()
    return this.pausedMs
  }

  #reach(): void {
    if (this.isAway) throw new Error('away')
  }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open(callsPerSecond: number | null, isSteady = false) {
  const store = new Store()
  const texts: string[] = []
  const log = createLog('info', { write: (text) => texts.push(text) })
  const limit = new RateLimiter(store, { callsPerSecond, isSteady, log })
  const letGo: number[] = []
  /** So many callers, and when each was let go, from now. */
  const call = (callers: number) => {
    const from = Date.now()
    const note = () => void letGo.push(Date.now() - from)
    return Array.from({ length: callers }, () => Promise.resolve(limit.acquire()).then(note))
  }
  const messages = () => texts.map((text) => (JSON.parse(text) as { msg: string }).msg)
  return { store, limit, letGo, call, messages }
}

/** One slot every 10 ms. */
const HUNDRED = 100 / 0.985

test('pauses that overlap are one, and the sum of all pauses grows while one lasts', async () => {
  const { limit } = open(null)
  expect(limit.snapshot()).toEqual(NO_RATE_LIMIT.snapshot())
  await limit.pauseAll(1000)
  await vi.advanceTimersByTimeAsync(600)
  await limit.pauseAll(1000)
  const { pause, pausedMs } = limit.snapshot()
  expect([pausedMs, pause]).toEqual([600, { pausedForMs: 600, leftMs: 1000 }])
  await vi.advanceTimersByTimeAsync(5000)
  expect(limit.snapshot()).toMatchObject({ pause: null, pausedMs: 1600 })
  await limit.pauseAll(1000)
  await vi.advanceTimersByTimeAsync(500)
  expect(limit.snapshot()).toMatchObject({ pausedMs: 2100 })
})

describe('a limit that processes share', () => {
  test('reserves slots for those who wait, at most those of 50 ms at once', async () => {
    const { store, call } = open(HUNDRED)
    call(8)
    await vi.advanceTimersByTimeAsync(1000)
    expect(store.taken.map(({ slots }) => slots)).toEqual([1, 5, 2])
    expect(store.taken[0]?.spacing.intervalMs).toBeCloseTo(10, 6)
    expect(store.taken[0]?.spacing.toleranceMs).toBe(50)
  })

  test('reserves one at least, however slow it is', async () => {
    const { store, call } = open(2)
    call(2)
    await vi.advanceTimersByTimeAsync(2000)
    expect(store.taken.map(({ slots }) => slots)).toEqual([1, 1])
    expect(store.taken[0]?.spacing.intervalMs).toBeCloseTo(1000 / 1.97, 6)
  })

  test('lets a steady caller use nearly all of the limit, and no second hold more', async () => {
    const { store, limit } = open(40, true)
    let nextMs = 0
    store.take = async (slots, { intervalMs, toleranceMs }) => {
      const firstMs = Math.max(nextMs, Date.now() - toleranceMs)
      nextMs = firstMs + slots * intervalMs
      return { pauseMs: 0, waitMs: firstMs - Date.now() }
    }
    const letGo: number[] = []
    const again = (): Promise<void> =>
      Promise.resolve(limit.acquire()).then(() => {
        letGo.push(Date.now())
        return again()
      })
    const going = again().catch(() => {})
    await vi.advanceTimersByTimeAsync(10_000)
    const inOneSecond = letGo.map((at) => letGo.filter((each) => each >= at && each < at + 1000))
    expect(Math.max(...inOneSecond.map(({ length }) => length))).toBeLessThanOrEqual(40)
    expect(letGo.length / 10).toBeGreaterThanOrEqual(0.95 * 40)
    await limit.close()
    await going
  })

  test('a slot that a steady caller comes too late for is lost, and those after it are not', async () => {
    const { store, limit } = open(40, true)
    await limit.acquire()
    await vi.advanceTimersByTimeAsync(100)
    const second = limit.acquire()
    await vi.advanceTimersByTimeAsync(30)
    await second
    expect(store.taken).toHaveLength(1)
    await limit.close()
  })

  test('lets one caller go a slot, the first when the store says', async () => {
    const { store, call, letGo } = open(HUNDRED)
    store.answer = { pauseMs: 0, waitMs: 100 }
    call(1)
    await vi.advanceTimersByTimeAsync(99)
    expect(letGo).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(letGo).toEqual([100])
    store.answer = { pauseMs: 0, waitMs: -15 }
    letGo.length = 0
    call(4)
    await vi.advanceTimersByTimeAsync(100)
    // The first slot alone, then three: those that are late are used at once.
    expect(letGo).toEqual([0, 0, 0, 5])
  })

  describe('of a process that stands still', () => {
    let stoodStillMs: number
    beforeEach(() => {
      stoodStillMs = 0
      vi.spyOn(performance, 'now').mockImplementation(() => Date.now() + stoodStillMs)
    })
    afterEach(() => void vi.restoreAllMocks())

    test('draws a slot anew that it missed by more than 100 ms, and keeps those in time', async () => {
      const { store, call } = open(HUNDRED)
      store.answer = { pauseMs: 0, waitMs: 20 }
      const calls = call(6)
      await vi.advanceTimersByTimeAsync(21)
      expect(store.taken.map(({ slots }) => slots)).toEqual([1, 5])
      // The clock goes on, and timers come late: of the five slots, which are due from 20 ms on, two were missed.
      stoodStillMs = 115
      await vi.advanceTimersByTimeAsync(100)
      expect(store.taken.map(({ slots }) => slots)).toEqual([1, 5, 2])
      await Promise.all(calls)
    })

    test('uses a slot that it missed by less', async () => {
      const { store, call } = open(HUNDRED)
      store.answer = { pauseMs: 0, waitMs: 20 }
      const calls = call(2)
      await vi.advanceTimersByTimeAsync(21)
      stoodStillMs = 95
      await Promise.all([...calls, vi.advanceTimersByTimeAsync(50)])
      expect(store.taken).toHaveLength(2)
    })

    test.each([
      [0, 130, 2],
      [50, 130, 1],
      [-50, 40, 1],
    ])(
      'draws anew where the answer of the store waited: a slot in %d ms after %d ms, %d times',
      async (waitMs, ms, times) => {
        const { store, call } = open(HUNDRED)
        await Promise.all(call(1))
        store.answer = { pauseMs: 0, waitMs }
        const calls = call(1)
        stoodStillMs = ms
        await Promise.all([...calls, vi.advanceTimersByTimeAsync(100)])
        expect(store.taken).toHaveLength(1 + times)
      },
    )

    test('keeps the slots in time of an answer that waited', async () => {
      const { store, call } = open(40, true)
      await Promise.all([...call(1), vi.advanceTimersByTimeAsync(1000)])
      // A group: the slots of 0.7 s.
      const calls = call(27)
      stoodStillMs = 200
      await vi.advanceTimersByTimeAsync(150)
      expect(store.taken).toHaveLength(2)
      await vi.advanceTimersByTimeAsync(1000)
      expect(store.taken.map(({ slots }) => slots)).toEqual([27, 27, 27])
      await Promise.all(calls)
    })

    test('uses every slot of a store that is slow, and of one that becomes so after some', async () => {
      const { store, call } = open(HUNDRED)
      const take = store.take.bind(store)
      let tripMs = 200
      store.take = (...of) => sleep(tripMs).then(() => take(...of))
      await Promise.all([...call(3), vi.advanceTimersByTimeAsync(1000)])
      expect(store.taken.map(({ slots }) => slots)).toEqual([1, 2])
      tripMs = 700
      await Promise.all([...call(1), vi.advanceTimersByTimeAsync(2000)])
      await Promise.all([...call(3), vi.advanceTimersByTimeAsync(2000)])
      expect(store.taken.map(({ slots }) => slots)).toEqual([1, 2, 1, 1, 1, 2])
    })
  })

  test('waits while the store says that all pause, and reserves again after it', async () => {
    const { store, call, letGo } = open(HUNDRED)
    store.answer = { pauseMs: 300, waitMs: 0 }
    call(2)
    await vi.advanceTimersByTimeAsync(100)
    store.answer = { pauseMs: 0, waitMs: 0 }
    await vi.advanceTimersByTimeAsync(199)
    expect(letGo).toEqual([])
    await vi.advanceTimersByTimeAsync(50)
    expect(letGo).toEqual([300, 310])
    expect(store.taken.map(({ atMs }) => atMs - (store.taken[0]?.atMs ?? 0))).toEqual([0, 300])
  })

  test('loses the slots within a pause of its own', async () => {
    const { store, limit, call, letGo } = open(HUNDRED)
    call(6)
    await vi.advanceTimersByTimeAsync(15)
    expect(letGo).toEqual([0, 0, 10])
    void limit.pauseAll(100)
    await vi.advanceTimersByTimeAsync(99)
    expect(letGo).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(100)
    expect(letGo).toEqual([0, 0, 10, 115, 125, 135])
    expect(store.taken.map(({ slots }) => slots)).toEqual([1, 5, 3])
  })

  test('goes on when the store is back, and tells once that it was away', async () => {
    const { store, limit, call, letGo, messages } = open(HUNDRED)
    store.isAway = true
    call(1)
    await vi.advanceTimersByTimeAsync(1200)
    expect(letGo).toEqual([])
    expect(messages()).toEqual(['the store of the shared rate limit fails'])
    expect(limit.snapshot().silent).toMatchObject({ server: 'Redis' })
    store.isAway = false
    await vi.advanceTimersByTimeAsync(299)
    expect(letGo).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(letGo).toEqual([1500])
    expect(limit.snapshot().silent).toBeNull()
    expect(messages()).toEqual([
      'the store of the shared rate limit fails',
      'the store of the shared rate limit works again',
    ])
  })
})

describe('another limit', () => {
  test('holds for who comes next, and none lets all who wait go', async () => {
    const { store, limit, call, letGo } = open(null)
    await Promise.all(call(2))
    limit.callsPerSecond = HUNDRED
    call(3)
    await vi.advanceTimersByTimeAsync(15)
    expect(letGo).toEqual([0, 0, 0, 0, 10])
    expect(store.taken.map(({ slots }) => slots)).toEqual([1, 2])
    limit.callsPerSecond = null
    call(2)
    await vi.advanceTimersByTimeAsync(0)
    expect(letGo.slice(5)).toEqual([0, 0])
  })
})

describe('a pause of all', () => {
  test('is told to the others once, unless it ends later by more than a tenth of a second', async () => {
    const { store, limit } = open(HUNDRED)
    await Promise.all([1000, 1000, 1100, 900].map((ms) => limit.pauseAll(ms)))
    expect(store.pauses).toEqual([1000])
    await limit.pauseAll(1201)
    expect(store.pauses).toEqual([1000, 1201])
  })

  test('lasts an hour at most', async () => {
    const { store, limit, call, letGo } = open(null)
    await limit.pauseAll(MAX_PAUSE_MS + 5000)
    expect(store.pauses).toEqual([3_600_000])
    call(1)
    await vi.advanceTimersByTimeAsync(MAX_PAUSE_MS - 1)
    expect(letGo).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(letGo).toEqual([3_600_000])
  })

  test('is kept alone where the store is away, and a shorter one does not end it', async () => {
    const { store, limit, call, letGo } = open(null)
    store.isAway = true
    await limit.pauseAll(500)
    await limit.pauseAll(100)
    call(1)
    await vi.advanceTimersByTimeAsync(499)
    expect(letGo).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(letGo).toEqual([500])
  })
})

describe('without a limit', () => {
  test('everybody goes at once, and pauses of others are asked for once a second', async () => {
    const { store, call, letGo } = open(null)
    await Promise.all(call(50))
    expect([letGo.length, store.asked, store.taken]).toEqual([50, 1, []])
    await vi.advanceTimersByTimeAsync(1000)
    await Promise.all(call(50))
    expect(store.asked).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(call(1))
    expect(store.asked).toBe(2)
  })

  test('a pause of another is kept once it is known, and looked for again at its end', async () => {
    const { store, call, letGo } = open(null)
    store.pausedMs = 200
    await Promise.all(call(1))
    const waiting = call(2)
    await vi.advanceTimersByTimeAsync(100)
    store.pausedMs = 50
    await vi.advanceTimersByTimeAsync(149)
    expect(letGo).toEqual([0])
    store.pausedMs = 0
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(waiting)
    expect(letGo).toEqual([0, 250, 250])
  })
})

describe('a limit that is closed', () => {
  test('sends away who waits, and whoever comes', async () => {
    for (const callsPerSecond of [HUNDRED, null]) {
      const { limit, store } = open(callsPerSecond)
      store.answer = { pauseMs: 0, waitMs: 10_000 }
      await limit.pauseAll(10_000)
      const waiting = limit.acquire()
      const sentAway = expect(waiting).rejects.toThrow(
        new DrainingError('the shared rate limit is closed'),
      )
      await vi.advanceTimersByTimeAsync(10)
      await limit.close()
      await sentAway
      await expect(limit.acquire()).rejects.toThrow(DrainingError)
      expect(vi.getTimerCount()).toBe(0)
    }
  })
})

describe('a pause that an operator ordered', () => {
  const pause = { since: new Date(), until: new Date(), by: 'ann', reason: null }

  test.each([null, HUNDRED])(
    'holds all callers until its end, with a limit of %s',
    async (limit) => {
      const { limit: paused, call, letGo } = open(limit)
      paused.operatorPause.apply({ ...pause, ms: 5_000 })
      call(2)
      const resumed = Promise.resolve(paused.resumed())
      expect(paused.snapshot()).toMatchObject({ waiting: 2, operatorPause: pause })
      await vi.advanceTimersByTimeAsync(4_999)
      expect(letGo).toEqual([])
      await vi.advanceTimersByTimeAsync(100)
      await resumed
      expect(letGo.length).toBe(2)
      expect(paused.snapshot()).toMatchObject({ operatorPause: null, waiting: 0 })
      expect(paused.resumed()).toBeNull()
    },
  )

  test('ends early, and its end may change', async () => {
    const { limit, call, letGo } = open(null)
    limit.operatorPause.apply({ ...pause, ms: 5_000 })
    call(1)
    await vi.advanceTimersByTimeAsync(3_000)
    limit.operatorPause.apply({ ...pause, ms: 5_000 })
    await vi.advanceTimersByTimeAsync(4_000)
    expect(letGo).toEqual([])
    limit.operatorPause.apply(null)
    await vi.advanceTimersByTimeAsync(0)
    expect(letGo).toEqual([7_000])
  })

  test('loses the slots within it, and its own time', async () => {
    const { limit, call, letGo } = open(HUNDRED)
    const beganMs = limit.now()
    call(6)
    await vi.advanceTimersByTimeAsync(15)
    const before = letGo.length
    limit.operatorPause.apply({ ...pause, ms: 5_000 })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(letGo.length).toBe(before)
    expect(limit.now() - beganMs).toBe(15)
    await vi.advanceTimersByTimeAsync(1_001)
    expect(letGo.length).toBe(6)
    expect(limit.now() - beganMs).toBe(1_015)
  })

  test('is left at once by a caller whose signal aborts, and when the limit closes', async () => {
    const { limit } = open(null)
    limit.operatorPause.apply({ ...pause, ms: 5_000 })
    const stopping = new AbortController()
    const stopped = expect(limit.resumed(stopping.signal)).rejects.toThrow('stopped')
    stopping.abort(new Error('stopped'))
    await stopped
    const closed = expect(limit.resumed()).rejects.toBeInstanceOf(DrainingError)
    await limit.close()
    await closed
  })
})
