import { Semaphore } from '../../service/memory.ts'
import type { Priority } from '../../service/wait-line.ts'

/**
 * Scopes in progress at a time, for each call that may be in flight. With more, responses survive into the old generation of the
 * heap (docs/decisions/2026-11-22-two-scopes-a-call.md).
 */
const SCOPES_A_CALL = 2
/** Units that a scope takes until its first try fails. Then it keeps one, so that others begin while it waits. */
const FIRST_TRY = 4

/**
 * Slots for the scopes that a process fetches at a time, batch after batch in the order in which they came. Scopes of high
 * priority have slots of their own: they wait for no batch of normal priority.
 */
export class ScopeSlots {
  readonly #lanes: Readonly<Record<Priority, { slots: Semaphore; turn: Semaphore }>>

  /** @param callsMax most calls in flight */
  constructor(callsMax: number) {
    const units = callsMax * SCOPES_A_CALL * FIRST_TRY
    const lane = () => ({ slots: new Semaphore(units), turn: new Semaphore(1) })
    this.#lanes = { high: lane(), normal: lane() }
  }

  /**
   * Works on each scope of a batch as soon as there is a slot.
   * @param work must not fail; it calls `onFailedTry` when a try failed, so that others begin while this one waits
   * @throws the signal's reason when it aborts before all are begun, after those that are begun have ended
   */
  async each<T>(
    scopes: readonly T[],
    { signal, priority }: { signal: AbortSignal; priority: Priority },
    work: (scope: T, onFailedTry: () => void) => Promise<void>,
  ): Promise<void> {
    const { slots, turn } = this.#lanes[priority]
    const begun: Promise<void>[] = []
    const begin = (scope: T) => {
      let taken = FIRST_TRY
      const hold = (units: number) => {
        slots.change(units - taken)
        taken = units
      }
      return work(scope, () => hold(1)).then(() => hold(0))
    }
    try {
      await turn.take(1, signal)
      try {
        for (const scope of scopes) {
          const wait = slots.take(FIRST_TRY, signal)
          if (wait !== null) await wait
          begun.push(begin(scope))
        }
      } finally {
        turn.change(-1)
      }
    } finally {
      await Promise.all(begun)
    }
  }
}
