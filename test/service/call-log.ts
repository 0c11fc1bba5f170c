import { OPERATION_NAMES } from '../../src/base/operations.ts'
import type { Operation } from '../../src/base/operations.ts'
import type { StandInRequest } from '../../src/demo/operations.ts'

/** One call as the service saw it. */
export interface LoggedCall {
  /** When it was answered, epoch milliseconds. */
  atMs: number
  operation: Operation | null
  /** Null where the call was outside docs/SERVICE.md. */
  data: StandInRequest['data'] | null
  /** HTTP status answered; null where the connection was broken first, by a fault or the caller. */
  status: number | null
  /** The kind of the fault that was made of it, if any. */
  fault: string | null
}

export interface Violation {
  atMs: number
  operation: Operation | null
  /** What was outside docs/SERVICE.md. */
  reason: string
  body: string
}

const VIOLATIONS_KEPT = 1000

/** Counts the calls, and keeps the last ones. Every request counts, refused and broken ones too. */
export class CallLog {
  total = 0
  readonly byOperation = Object.fromEntries(OPERATION_NAMES.map((each) => [each, 0])) as Record<
    Operation,
    number
  >
  readonly byFault: Record<string, number> = {}
  inFlight = 0
  /** When the first call arrived, epoch milliseconds; null before it. */
  firstAtMs: number | null = null
  /** When the last response was sent. */
  lastAtMs: number | null = null
  violationCount = 0
  readonly violations: Violation[] = []
  #keep: number
  #log: LoggedCall[] = []

  /** `keep`: how many calls `log` holds at least, the newest ones; 0 keeps none. */
  constructor(keep: number) {
    this.#keep = keep
  }

  /** The newest calls, in the order of their answers. */
  get log(): readonly LoggedCall[] {
    return this.#log
  }

  arrived(): void {
    this.firstAtMs ??= Date.now()
    this.total++
    this.inFlight++
  }

  left(): void {
    this.lastAtMs = Date.now()
    this.inFlight--
  }

  answered(call: LoggedCall): void {
    if (call.operation) this.byOperation[call.operation]++
    if (call.fault !== null) this.byFault[call.fault] = (this.byFault[call.fault] ?? 0) + 1
    if (this.#keep === 0) return
    this.#log.push(call)
    // In halves, so that keeping the log bounded costs nothing per call.
    if (this.#log.length >= this.#keep * 2) this.#log = this.#log.slice(-this.#keep)
  }

  violated(violation: Violation): void {
    this.violationCount++
    if (this.violations.length < VIOLATIONS_KEPT) this.violations.push(violation)
  }

  /** Starts counting afresh; calls in flight stay counted as in flight. */
  reset(): void {
    this.total = 0
    this.firstAtMs = null
    this.lastAtMs = null
    this.byOperation.users = 0
    this.byOperation.comments = 0
    for (const kind of Object.keys(this.byFault)) delete this.byFault[kind]
    this.violationCount = 0
    this.violations.length = 0
    this.#log = []
  }
}
