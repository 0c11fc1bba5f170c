import * as refresh from '../../database/statements/refresh.ts'
import { HINTED } from './classes.ts'
import { lookAtThread } from './look.ts'
import { claimLooks } from './looked-at-batch.ts'
import { LooksSoFar } from './looking.ts'
import type { Looking, NotedFailures } from './looking.ts'

/** Hints take at most this part of the calls, and never what the promise needs. */
const SHARE_MAX = 0.5
/** So much of it is saved up while there are no hints. */
const SAVED_S = 1

/** Looks at the threads that somebody said have changed, before others, within its part of the budget. */
export class Hints {
  #saved = 0
  #lastMs = performance.now()

  /**
   * Takes what was hinted at and looks at it.
   * @param share of the budget that the promise needs
   * @returns what came of it; null where there was nothing
   * @throws what ends the work; threads that were not looked at are given back
   */
  async look(
    looking: Looking,
    { budget, share }: { budget: number; share: number },
    noted: NotedFailures,
  ): Promise<LooksSoFar | null> {
    const limit = this.#allowed(budget * Math.max(0, Math.min(SHARE_MAX, 1 - share)))
    if (limit < 1) return null
    const { database, deadAfterS, workerId } = looking.context
    const taken = await refresh.takeHints.all(database, { workerId, limit, deadAfterS })
    if (taken.length === 0) return null
    this.#saved -= taken.length
    const keys = taken.map(({ key }) => key)
    const done = new Set(keys)
    const soFar = new LooksSoFar()
    try {
      const claim = await claimLooks(looking, await looking.clock.now())
      const threads = await refresh.threads.all(database, { keys })
      for (const { key } of threads) done.delete(key)
      const looks = threads.map(async (thread) => {
        await looking.budget.acquire(looking.signal, 'high')
        const asked = { thread, claim, priority: 'high' as const }
        soFar.learn(await lookAtThread(looking, soFar, asked, noted), null)
        done.add(thread.key)
      })
      for (const look of await Promise.allSettled(looks))
        if (look.status === 'rejected') throw look.reason
    } finally {
      const left = keys.filter((key) => !done.has(key))
      await refresh.endHints.run(database, { keys: [...done], workerId })
      if (left.length > 0) await refresh.giveBackHints.run(database, { keys: left, workerId })
    }
    return soFar
  }

  /** Number of the class under which its looks are counted. */
  readonly class = HINTED

  #allowed(callsPerSecond: number): number {
    const nowMs = performance.now()
    this.#saved += ((nowMs - this.#lastMs) / 1000) * callsPerSecond
    this.#saved = Math.min(this.#saved, Math.max(1, callsPerSecond * SAVED_S))
    this.#lastMs = nowMs
    return Math.floor(this.#saved)
  }
}
