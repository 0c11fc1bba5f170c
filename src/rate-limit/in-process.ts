import type { SharedRateLimit } from '../service/rate-limit.ts'
import { RateLimiter } from './limiter.ts'
import type { RateLimitOptions, RateLimitStore, Spacing, Taken } from './limiter.ts'

/** A rate that this process keeps alone: limit and pauses reach no other. */
export function openProcessRateLimit(options: RateLimitOptions): SharedRateLimit {
  return new RateLimiter(new MemoryStore(), options)
}

class MemoryStore implements RateLimitStore {
  #nextMs = -Infinity
  #pausedUntilMs = -Infinity

  async take(slots: number, { intervalMs, toleranceMs }: Spacing): Promise<Taken> {
    const pauseMs = await this.pauseMs()
    if (pauseMs > 0) return { pauseMs, waitMs: 0 }
    const now = performance.now()
    const firstMs = Math.max(this.#nextMs, now - toleranceMs)
    this.#nextMs = firstMs + slots * intervalMs
    return { pauseMs: 0, waitMs: firstMs - now }
  }

  async pause(ms: number): Promise<void> {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + ms)
  }

  async pauseMs(): Promise<number> {
    return Math.max(0, this.#pausedUntilMs - performance.now())
  }
}
