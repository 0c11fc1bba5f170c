import * as refresh from '../../database/statements/refresh.ts'
import type { SyncContext } from '../context.ts'
import type { Looked } from './looking.ts'

/** How long refresh is paused: twice as long as it has been paused already, within these. */
const PAUSE_S = { leastS: 5, mostS: 300 }
/** So many failures in a row, in several organizations, are no failures of threads. */
const FAILURES_MAX = 32

/**
 * Pauses refresh, for all workers, where the service refuses key and token or fails everywhere, and lets it go on with the
 * first good answer. Each scope would otherwise be noted as failing, one after the other.
 */
export class Pauses {
  readonly #context: Pick<SyncContext, 'database' | 'log'>
  readonly #now: () => Promise<Date>
  #failed = 0
  readonly #organizations = new Set<number>()
  /** Whether it is paused, or was a moment ago and only tries whether it can go on. */
  isPaused = false

  /** @param now the time by which pauses are counted */
  constructor(context: Pick<SyncContext, 'database' | 'log'>, now: () => Promise<Date>) {
    this.#context = context
    this.#now = now
  }

  /** Hears of a look. */
  looked(looked: Looked, organizationKey: number): void {
    const { database } = this.#context
    if (looked === 'failed') {
      this.#failed += 1
      this.#organizations.add(organizationKey)
      const { size } = this.#organizations
      if (this.#failed < FAILURES_MAX || size < 2) return
      const where = `${this.#failed} looks in a row, in ${size} organizations`
      this.#inBackground(
        this.pause(
          `The service seems to be away, or to refuse COLLAB_API_KEY or COLLAB_AUTH_TOKEN: ${where}, failed.`,
        ),
      )
    } else if (this.isPaused) this.#inBackground(refresh.goOn.run(database))
    if (looked !== 'failed') this.isPaused = false
    this.#failed = 0
    this.#organizations.clear()
  }

  /** @param reason a sentence for a person */
  async pause(reason: string): Promise<void> {
    const { database, log } = this.#context
    this.isPaused = true
    const paused = await refresh.pause.run(database, { at: await this.#now(), reason, ...PAUSE_S })
    if (paused > 0) log.error({ reason }, 'refresh is paused')
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#context.log.warn({ err: error }, 'refresh'))
  }
}
