import { Semaphore } from '../../service/memory.ts'
import type { Priority } from '../../service/wait.ts'

/**
 * Scopes in progress at a time, for each call that may be in flight. With eight instead of two, responses survived into the old
 * generation of the heap, and a call took a sixth more CPU (measured).
 */
const SCOPES_A_CALL = 2
/** What a scope takes during its first try; while it waits for another try or makes it, it takes 1, so that others begin. */
const FIRST_TRY = 4

/** Places for scopes in progress, and which batch begins its scopes now. */
interface Lane {
  readonly places: Semaphore
  readonly turn: Semaphore
}

/**
 * The scopes that a process asks for at a time, batch after batch in the order in which they came. Those of high priority
 * have places of their own: they wait for no batch of normal priority.
 */
export class ScopePlaces {
  readonly #lanes: Readonly<Record<Priority, Lane>>

  /** @param callsMax most calls in flight */
  constructor(callsMax: number) {
    const lane = () => ({
      places: new Semaphore(callsMax * SCOPES_A_CALL * FIRST_TRY),
      turn: new Semaphore(1),
    })
    this.#lanes = { high: lane(), normal: lane() }
  }

  /**
   * Works on each scope of a batch as soon as there is a place.
   * @param work must not fail; it calls `triesAgain` when a try failed, so that others begin while this one waits
   * @throws the signal's reason when it aborts before all are begun, after those that are begun have ended
   */
  async each<T>(
    scopes: readonly T[],
    { signal, priority }: { signal: AbortSignal; priority: Priority },
    work: (scope: T, triesAgain: () => void) => Promise<void>,
  ): Promise<void> {
    const { places, turn } = this.#lanes[priority]
    const begun: Promise<void>[] = []
    try {
      await turn.take(1, signal)
      try {
        for (const scope of scopes) {
          const wait = places.take(FIRST_TRY, signal)
          if (wait !== null) await wait
          begun.push(begin(scope, places, work))
        }
      } finally {
        turn.change(-1)
      }
    } finally {
      await Promise.all(begun)
    }
  }
}

function begin<T>(
  scope: T,
  places: Semaphore,
  work: (scope: T, triesAgain: () => void) => Promise<void>,
): Promise<void> {
  let taken = FIRST_TRY
  const keep = (units: number) => {
    places.change(units - taken)
    taken = units
  }
  return work(scope, () => keep(1)).then(() => keep(0))
}
