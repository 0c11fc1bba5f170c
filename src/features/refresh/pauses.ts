import * as refresh from '../../core/database/statements/refresh.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import type { Clock } from './clock.ts'
import type { Polled } from './polling.ts'

/** How long refresh is paused: twice as long as it has been paused already, within these. */
const PAUSE_S = { leastS: 5, mostS: 300 }
/** After so many failures in a row, in several organizations, the service is at fault and not the threads. */
const FAILURES_MAX = 32

/**
 * Pauses refresh, for all workers, where the service refuses key and token or fails everywhere, until the first good response.
 * Otherwise each scope would be noted as failing, one after the other.
 */
export class Pauses {
  readonly #context: Pick<SyncContext, 'database' | 'log'>
  readonly #clock: Clock
  #failed = 0
  readonly #organizations = new Set<number>()
  /** Whether it is paused, or was a moment ago and only tries whether it can continue. */
  isPaused = false

  constructor(context: Pick<SyncContext, 'database' | 'log'>, clock: Clock) {
    this.#context = context
    this.#clock = clock
  }

  /** To be called after each poll. */
  polled(outcome: Polled, organizationKey: number): void {
    if (outcome === 'failed') {
      this.#failed += 1
      this.#organizations.add(organizationKey)
      const { size } = this.#organizations
      if (this.#failed < FAILURES_MAX || size < 2) return
      this.#inBackground(
        this.pause(
          `The service seems to be away, or to refuse COLLAB_API_KEY or COLLAB_AUTH_TOKEN: ${this.#failed} polls in a row, in ${size} organizations, failed.`,
        ),
      )
    } else {
      if (this.isPaused) this.#inBackground(refresh.goOn.run(this.#context.database))
      this.isPaused = false
    }
    this.#failed = 0
    this.#organizations.clear()
  }

  /** @param reason a sentence for an operator */
  async pause(reason: string): Promise<void> {
    const { database, log } = this.#context
    this.isPaused = true
    const at = this.#clock.now()
    const paused = await refresh.pause.run(database, { at, reason, ...PAUSE_S })
    if (paused > 0) log.error({ reason }, 'refresh is paused')
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#context.log.warn({ err: error }, 'refresh'))
  }
}
