import * as refresh from '../../core/database/statements/refresh.ts'
import type { Polling, Tally } from './polling.ts'
import { Polls, readThreads } from './polls.ts'

/** Hints take at most this part of the calls, and never what the promise needs. */
const SHARE_MAX = 0.5
/** So much of it is saved up while there are no hints. */
const SAVED_S = 1

/** Polls the threads that a caller has reported as changed, before others, within their part of the budget. */
export class Hints {
  #saved = 0
  #lastMs = performance.now()

  /**
   * Takes hints and polls their threads.
   * @param share of the budget that the promise needs
   * @returns what came of it; null where there was nothing
   * @throws what ends the work; the hints are given back
   */
  async poll(
    polling: Polling,
    { budget, share }: { budget: number; share: number },
  ): Promise<Tally | null> {
    const limit = this.#allowed(budget * Math.max(0, Math.min(SHARE_MAX, 1 - share)))
    if (limit < 1) return null
    const { database, deadAfterS, workerId } = polling.context
    const taken = await refresh.takeHints.all(database, { workerId, limit, deadAfterS })
    if (taken.length === 0) return null
    this.#saved -= taken.length
    const keys = taken.map(({ key }) => key)
    try {
      const polls = new Polls(polling, 'high')
      await polls.beginAll(readThreads(polling, keys, polling.clock.now()))
      const tally = await polls.end()
      await refresh.endHints.run(database, { keys, workerId })
      return tally
    } catch (error) {
      await refresh.giveBackHints.run(database, { keys, workerId })
      throw error
    }
  }

  #allowed(callsPerSecond: number): number {
    const nowMs = performance.now()
    this.#saved += ((nowMs - this.#lastMs) / 1000) * callsPerSecond
    this.#saved = Math.min(this.#saved, Math.max(1, callsPerSecond * SAVED_S))
    this.#lastMs = nowMs
    return Math.floor(this.#saved)
  }
}
