import type { Dispatcher } from 'undici'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { CallTarget } from '../../src/core/service/errors.ts'
import { receive } from '../../src/core/service/request.ts'
import type { Reply } from '../../src/core/service/request.ts'

/** The time limit of one request, by a clock that the test moves; request.test.ts makes real ones. */

const TIMEOUT_MS = 1000
const LARGE_BYTES = 3_000_000
const target: CallTarget = { operation: 'users', filter: { organizationId: 'o' }, secrets: [] }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A request whose answer the test gives; a large body waits for `memoryIsFree`. */
function begin() {
  let memoryIsFree = (): void => {}
  const takeMemory = () => new Promise<void>((resolve) => (memoryIsFree = resolve))
  let [isPaused, isOver] = [false, false]
  const controller = {
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
    abort: () => {},
  } as unknown as Dispatcher.DispatchController
  const limits = { origin: 'http://service', timeoutMs: TIMEOUT_MS, maxBodyBytes: 10_000_000 }
  let handler!: ReturnType<typeof receive>
  const reply = new Promise<Reply>((resolve, reject) => {
    handler = receive(limits, { target, takeMemory }, resolve, reject)
  })
  handler.onRequestStart(controller)
  return {
    reply,
    /** Null where it was answered. */
    failure: reply
      .then(
        () => null,
        (error: unknown) => error,
      )
      .finally(() => (isOver = true)),
    isPaused: () => isPaused,
    isOver: () => isOver,
    starts: (headers: Record<string, string> = {}) =>
      handler.onResponseStart(controller, 200, headers),
    sends: (chunk: Buffer) => handler.onResponseData(controller, chunk),
    ends: () => handler.onResponseEnd(),
    async letIn() {
      memoryIsFree()
      await vi.advanceTimersByTimeAsync(0)
    },
  }
}

const startLarge = (of: ReturnType<typeof begin>) =>
  of.starts({ 'content-length': String(LARGE_BYTES) })

describe('the time limit', () => {
  test('covers headers and body together, and no byte renews it', async () => {
    const exchange = begin()
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS / 2)
    exchange.starts()
    for (let ms = TIMEOUT_MS / 2; ms < TIMEOUT_MS - 100; ms += 100) {
      exchange.sends(Buffer.from(' '))
      await vi.advanceTimersByTimeAsync(100)
    }
    await vi.advanceTimersByTimeAsync(99)
    expect(exchange.isOver()).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await exchange.failure).toMatchObject({ errorStatus: 'timeout', kind: 'retry' })
  })

  test('is over with the answer', async () => {
    const exchange = begin()
    exchange.starts()
    exchange.sends(Buffer.from('{}'))
    exchange.ends()
    expect(vi.getTimerCount()).toBe(0)
    expect((await exchange.reply).body.toString()).toBe('{}')
  })

  test('of a large body begins anew when there is memory for it: the wait for it is none of the service', async () => {
    const exchange = begin()
    startLarge(exchange)
    await vi.advanceTimersByTimeAsync(10 * TIMEOUT_MS)
    expect([exchange.isPaused(), exchange.isOver()]).toEqual([true, false])
    await exchange.letIn()
    expect(exchange.isPaused()).toBe(false)
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1)
    const half = Buffer.alloc(LARGE_BYTES / 2, 'x')
    exchange.sends(half)
    exchange.sends(half)
    exchange.ends()
    expect((await exchange.reply).body.equals(Buffer.concat([half, half]))).toBe(true)
  })

  test('holds for a large body from then on', async () => {
    const exchange = begin()
    startLarge(exchange)
    await exchange.letIn()
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1)
    expect(exchange.isOver()).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await exchange.failure).toMatchObject({ errorStatus: 'timeout', kind: 'retry' })
  })
})
