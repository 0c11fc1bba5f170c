import { CallError } from '../../base/errors.ts'
import { isForbidden } from './errors.ts'
import type { CallTarget } from './errors.ts'
import { describeCall } from './filters.ts'

/** Failures in a row that stop further calls. */
const FAILURES_MAX = 5
/** While calls are stopped, one of them is made this often, to find out whether they would succeed. */
const PROBE_EVERY_MS = 30_000

interface Circuit {
  /** Filters that failed since the last success, without annotation and comments. */
  readonly failed: Set<string>
  lastError: CallError
  nextProbeMs: number
}

/**
 * Stops hopeless calls of one operation in one organization. Only failures that concern more than one scope count: a call that
 * is forbidden, and one that failed after all its tries. A call that was throttled is no failure of the organization, and a 400
 * or 404 concerns one scope. All annotations of a document count once, because a document may be forbidden or deleted alone.
 */
export class Breaker {
  readonly #circuits = new Map<string, Circuit>()

  /** @throws CallError (`refused`, `breaker_open`, its cause the last failure) when the call is hopeless */
  check(target: CallTarget, nowMs: number): void {
    const circuit = this.#circuitOf(target)
    if (circuit === undefined || circuit.failed.size < FAILURES_MAX) return
    if (nowMs < circuit.nextProbeMs) throw openError(target, circuit)
    circuit.nextProbeMs = nowMs + PROBE_EVERY_MS
  }

  /** Notes that a call succeeded, which closes the circuit. */
  succeeded(target: CallTarget): void {
    if (this.#circuits.size > 0) this.#circuits.delete(keyOf(target))
  }

  /** Notes how a call that `check` allowed failed; anything but a CallError counts for nothing. */
  failed(target: CallTarget, error: unknown, nowMs: number): void {
    if (!(error instanceof CallError && (error.kind === 'retry' || isForbidden(error)))) return
    const circuit = this.#circuitOf(target) ?? {
      failed: new Set(),
      lastError: error,
      nextProbeMs: 0,
    }
    this.#circuits.set(keyOf(target), circuit)
    circuit.lastError = error
    if (circuit.failed.size === FAILURES_MAX) return
    const { filter } = target
    circuit.failed.add(
      JSON.stringify({ ...filter, annotationId: undefined, commentIds: undefined }),
    )
    circuit.nextProbeMs = nowMs + PROBE_EVERY_MS
  }

  /** Forgets every failure: for the start of a run and for a new key or token. */
  forget(): void {
    this.#circuits.clear()
  }

  /** Costs nothing while nothing has failed, which is the usual case. */
  #circuitOf(target: CallTarget): Circuit | undefined {
    return this.#circuits.size === 0 ? undefined : this.#circuits.get(keyOf(target))
  }
}

function keyOf({ operation, filter }: CallTarget): string {
  return `${operation} ${filter.organizationId}`
}

function openError(target: CallTarget, { failed, lastError }: Circuit): CallError {
  const error = new CallError(
    `${describeCall(target.operation, target.filter)} was skipped: ${failed.size} calls in a row failed here, the last: ${lastError.message}`,
    // With the HTTP status that opened it, a skipped call counts to the same cause as the refused ones.
    {
      kind: 'refused',
      httpStatus: lastError.httpStatus,
      errorStatus: 'breaker_open',
      cause: lastError,
    },
  )
  error.attempts = 0
  return error
}
