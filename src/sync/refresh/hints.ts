import * as refresh from '../../database/statements/refresh.ts'
import { lookAtThreads } from './look.ts'
import { LooksSoFar } from './looking.ts'
import type { Looking } from './looking.ts'

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
  ): Promise<LooksSoFar | null> {
    const limit = this.#allowed(budget * Math.max(0, Math.min(SHARE_MAX, 1 - share)))
    if (limit < 1) return null
    const { database, deadAfterS, drained, workerId } = looking.context
    const taken = await refresh.takeHints.all(database, { workerId, limit, deadAfterS })
    if (taken.length === 0) return null
    this.#saved -= taken.length
    const keys = taken.map(({ key }) => key)
    let done = new Set<number>()
    const soFar = new LooksSoFar()
    try {
      const { ended } = await lookAtThreads(looking, soFar, {
        keys,
        at: await looking.clock.now(),
        priority: 'high',
        begin: async (look) => ({
          ended: Promise.resolve(looking.budget.acquire(drained, 'high')).then(look),
        }),
        looked: ({ key }, looked) => {
          soFar.learn(looked, null)
          done.add(key)
        },
      })
      await ended
      // Those that left the catalog too.
      done = new Set(keys)
    } finally {
      const left = keys.filter((key) => !done.has(key))
      await refresh.endHints.run(database, { keys: [...done], workerId })
      if (left.length > 0) await refresh.giveBackHints.run(database, { keys: left, workerId })
    }
    return soFar
  }

  #allowed(callsPerSecond: number): number {
    const nowMs = performance.now()
    this.#saved += ((nowMs - this.#lastMs) / 1000) * callsPerSecond
    this.#saved = Math.min(this.#saved, Math.max(1, callsPerSecond * SAVED_S))
    this.#lastMs = nowMs
    return Math.floor(this.#saved)
  }
}
