import { CallError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import type { Outcome } from './gate.ts'

/** How a call went: `given_up` by us, `transient` where another try may succeed; the rest as in FailureKind. */
export type CallOutcome =
  | 'success'
  | 'overload'
  | 'timeout'
  | 'transient'
  | 'refused'
  | 'credentials'
  | 'unknown'
  | 'given_up'

/** One call that was made, for metrics. */
export interface CallReport {
  readonly operation: Operation
  readonly outcome: CallOutcome
  readonly isRetry: boolean
  /** Waiting for a slot of the shared pace. */
  readonly waitedMs: number
  /** Waiting for the service. */
  readonly serviceMs: number
}

/** @param failure what the call ended with; null for none */
export function callOutcome(paceOutcome: Outcome, failure: unknown): CallOutcome {
  if (paceOutcome !== 'other') return paceOutcome
  if (!(failure instanceof CallError)) return 'given_up'
  return failure.kind === 'retry' ? 'transient' : failure.kind
}
