import type { BatchScope } from '../../database/scopes.ts'
import type { Scope } from '../../../documents/scope.ts'
import { CallError } from '../../../base/errors.ts'
import type { Operation } from '../../../base/errors.ts'
import { Semaphore } from '../../service/memory.ts'
import type { Priority } from '../../service/wait.ts'
import { askComments } from './comments.ts'
import type { Asking } from './comments.ts'
import type { AskedResult } from './result.ts'
import { askUsers } from './users.ts'

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

/**
 * Works on items as they come, a fixed number at a time, so that memory does not grow with their number.
 * The first failure ends it: what is in progress comes to its end, nothing more is begun.
 * @throws that first failure
 */
export async function inParallel<T>(
  items: AsyncIterator<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let failure: { error: unknown } | null = null
  const worker = async () => {
    try {
      while (failure === null) {
        const next = await items.next()
        if (next.done) return
        await work(next.value)
      }
    } catch (error) {
      failure ??= { error }
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
  if (failure !== null) throw (failure as { error: unknown }).error
}

/**
 * Fetches one scope, all of it or what the run narrows it to. Its responses count as received until it ends; what the caller
 * keeps of them, it counts itself.
 * @param onFailedTry called after each try that failed
 * @throws CallError where there was no usable answer
 */
export async function askScope(
  asking: Asking,
  operation: Operation,
  scope: BatchScope,
  { userIds, commentIds }: Pick<Scope, 'userIds' | 'commentIds'>,
  onFailedTry?: () => void,
): Promise<AskedResult> {
  const memory = asking.collabApi.memory.open(asking.isAwaited ? 1 : 0)
  const own = { ...asking, call: { ...asking.call, memory, onFailedTry } }
  try {
    const result = await (operation === 'comments'
      ? askComments(own, scope, commentIds ? [...new Set(commentIds)] : null)
      : askUsers(own, scope, userIds ? [...new Set(userIds)] : null))
    if ('incomplete' in result) redactFailure(asking, scope, result.incomplete)
    return result
  } catch (error) {
    redactFailure(asking, scope, error)
    throw error
  } finally {
    memory.resize(0)
  }
}

/** What the service says of a failure is stored too: erased people are left out of it. */
function redactFailure({ rules }: Asking, { organizationId }: BatchScope, error: unknown): void {
  if (!(error instanceof CallError)) return
  const redact = rules.redact(organizationId)
  if (redact === null) return
  const { message, errorStatus } = error
  Object.assign(error, { message: redact.text(message), errorStatus: redact.text(errorStatus) })
}
