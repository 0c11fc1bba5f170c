import { CallError } from '../errors.ts'
import { isForbidden } from './errors.ts'
import type { Asked } from './errors.ts'
import { describeCall } from './filters.ts'

/** Failures in a row that stop further calls. */
const STRIKES = 5
/** The first wait before one call may probe; it doubles with each probe that fails, up to the most. */
const FIRST_PROBE_MS = 30_000
const MAX_PROBE_MS = 300_000

interface Circuit {
  /** What failed since the last success: documents for an organization, scopes for a document. */
  readonly places: Set<string>
  lastError: CallError
  /** Null while closed. */
  probeAtMs: number | null
  probeWaitMs: number
  probing: boolean
}

/**
 * Stops hopeless calls of one operation in one organization. Only failures that speak of more than
 * their own scope count: 403-like refusals and calls given up after all their tries. Throttling is nobody's fault, and a 400 or 404 tells
 * of one scope, and a deleted document brings many of them in a row, so they never count.
 * One document's annotations count once for the organization, and stop that document alone.
 */
export class Breaker {
  readonly #circuits = new Map<string, Circuit>()

  /** @throws CallError (`refused`, `breaker_open`, its cause the last failure) when the call is hopeless */
  check(asked: Asked, nowMs: number): void {
    // Nothing has failed: the usual case costs nothing.
    if (this.#circuits.size === 0) return
    const circuits = keysOf(asked).map((key) => this.#circuits.get(key))
    const open = circuits.filter((circuit) => circuit !== undefined && circuit.probeAtMs !== null)
    for (const circuit of open) {
      if (circuit !== undefined && (circuit.probing || nowMs < (circuit.probeAtMs ?? 0))) {
        throw openError(asked, circuit)
      }
    }
    for (const circuit of open) if (circuit !== undefined) circuit.probing = true
  }

  succeeded(asked: Asked): void {
    if (this.#circuits.size === 0) return
    for (const key of keysOf(asked)) this.#circuits.delete(key)
  }

  /** Tells how a call that `check` let through failed; anything but a CallError counts for nothing. */
  failed(asked: Asked, error: unknown, nowMs: number): void {
    const counted = error instanceof CallError && counts(error) ? error : null
    const [organization, document] = keysOf(asked)
    if (organization !== undefined) this.#strike(organization, placeOf(asked), counted, nowMs)
    if (document !== undefined) {
      this.#strike(document, JSON.stringify(asked.filter), counted, nowMs)
    }
  }

  /** Forgets every failure: for the start of a run, which tries afresh, and for a new token. */
  forget(): void {
    this.#circuits.clear()
  }

  #strike(key: string, place: string, error: CallError | null, nowMs: number): void {
    const known = this.#circuits.get(key)
    if (error === null) {
      // A probe that ended otherwise proved nothing: the next call may probe.
      if (known !== undefined) known.probing = false
      return
    }
    const circuit = known ?? newCircuit(error)
    this.#circuits.set(key, circuit)
    circuit.lastError = error
    if (circuit.probeAtMs === null) {
      circuit.places.add(place)
      if (circuit.places.size >= STRIKES) circuit.probeAtMs = nowMs + circuit.probeWaitMs
    } else if (circuit.probing) {
      circuit.probing = false
      circuit.probeWaitMs = Math.min(MAX_PROBE_MS, circuit.probeWaitMs * 2)
      circuit.probeAtMs = nowMs + circuit.probeWaitMs
    }
  }
}

function newCircuit(lastError: CallError): Circuit {
  return {
    places: new Set(),
    lastError,
    probeAtMs: null,
    probeWaitMs: FIRST_PROBE_MS,
    probing: false,
  }
}

function counts(error: CallError): boolean {
  return error.kind === 'retry' || isForbidden(error)
}

/** The organization's circuit, and the document's where there are annotations beneath it. */
function keysOf(asked: Asked): string[] {
  const { operation, filter } = asked
  const organization = JSON.stringify([operation, filter.organizationId])
  if (operation === 'users') return [organization]
  return [organization, JSON.stringify([operation, filter.organizationId, filter.documentId])]
}

function placeOf(asked: Asked): string {
  return asked.operation === 'users'
    ? JSON.stringify(asked.filter)
    : (asked.filter.documentId ?? '')
}

function openError(asked: Asked, circuit: Circuit): CallError {
  const { lastError } = circuit
  const error = new CallError(
    `${describeCall(asked.operation, asked.filter)} was not asked: ${circuit.places.size} in a row failed here, the last: ${lastError.message}`,
    // With the HTTP status that opened it, what was not asked counts to the same cause as what was refused.
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
