import { CallError } from '../errors.ts'
import type { FailureKind, Operation } from '../errors.ts'
import { describeCall } from './filters.ts'
import type { CommentsFilter, UsersFilter } from './filters.ts'

/** How an answer, or the lack of one, failed where neither HTTP status nor `error.status` say. */
export type Shape =
  | 'timeout'
  | 'connection'
  | 'body_cut'
  | 'body_empty'
  | 'body_unreadable'
  | 'body_ambiguous'
  | 'body_too_large'
  | 'too_many_records'
  | 'no_data'
  | 'error_without_code'
  | 'failed_status'
  | 'redirect'

export interface FailureFacts {
  /** Null where there was no answer. */
  readonly httpStatus: number | null
  /** `error.status` of the body. */
  readonly code: string | null
  readonly shape: Shape | null
}

interface Row {
  readonly http?: readonly (number | '3xx' | '5xx')[]
  readonly code?: readonly string[]
  readonly shape?: readonly Shape[]
  readonly kind: FailureKind
  readonly because: string
}

/**
 * What each failure means. The HTTP status decides first, then `error.status`, then the shape;
 * what no row names is `unknown`. The service's own codes and statuses are not shown
 * (service-api.md, Errors), so these are the usual ones of HTTP and of gRPC.
 */
// prettier-ignore
export const FAILURES: readonly Row[] = [
  { http: [401],                kind: 'credentials', because: 'key or token are refused, for every scope alike' },
  { http: [408, 425, 429],      kind: 'retry',       because: 'the service asks to come again' },
  { http: ['5xx'],              kind: 'retry',       because: 'the fault is on the other side and may pass' },
  { http: [400, 413, 422],      kind: 'refused',     because: 'the same request will be as wrong again' },
  { http: [403, 404, 409],      kind: 'refused',     because: 'this scope is forbidden, gone or in conflict' },
  { http: ['3xx'],              kind: 'refused',     because: 'not followed: it could carry the credentials elsewhere' },
  { http: [206],                kind: 'unknown',     because: 'a part that nobody asked for must not pass for the whole' },

  { code: ['UNAUTHENTICATED'],  kind: 'credentials', because: 'as 401' },
  { code: ['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL', 'ABORTED'],
                                kind: 'retry',       because: 'the usual transient codes' },
  { code: ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
                                kind: 'refused',     because: 'as 400' },
  { code: ['PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'],
                                kind: 'refused',     because: 'as 403, 404 and 409' },

  { shape: ['timeout', 'connection'],
                                kind: 'retry',       because: 'the network: nothing is known of the answer' },
  { shape: ['body_cut', 'body_empty', 'body_unreadable', 'body_ambiguous', 'no_data'],
                                kind: 'retry',       because: 'an answer damaged on its way, or of a proxy' },
  { shape: ['error_without_code'],
                                kind: 'retry',       because: 'a failure that the service does not explain' },
  { shape: ['body_too_large', 'too_many_records'],
                                kind: 'refused',     because: 'it will be as large again' },
  { shape: ['failed_status'],   kind: 'unknown',     because: '`result.status` speaks of a failure; only `success` is shown' },
]

/** The meaning of a failure, by the table. A code never seen before, and all else, is `unknown`. */
export function classify(facts: FailureFacts): FailureKind {
  return (
    kindOfHttp(facts.httpStatus) ??
    // An unseen code is a word of the service's own: it outweighs the shape of the body around it.
    (facts.code === null ? kinds.get(facts.shape) : kindOfCode(facts.code)) ??
    'unknown'
  )
}

/** True where the service says that it gets more calls than it can take. */
export function isOverload(failure: {
  readonly httpStatus: number | null
  readonly errorStatus: string | null
}): boolean {
  if (failure.httpStatus === 429 || failure.httpStatus === 503) return true
  const code = failure.errorStatus === null ? '' : canonical(failure.errorStatus)
  return code === 'RESOURCE_EXHAUSTED' || code === 'UNAVAILABLE' || code === '429' || code === '503'
}

const kinds = new Map<string | number | null, FailureKind>(
  FAILURES.flatMap((row) =>
    [...(row.http ?? []), ...(row.code ?? []), ...(row.shape ?? [])].map(
      (on) => [on, row.kind] as const,
    ),
  ),
)

function kindOfHttp(httpStatus: number | null): FailureKind | undefined {
  return kinds.get(httpStatus) ?? kinds.get(`${String(httpStatus)[0]}xx`)
}

/** Codes are compared as `NOT_FOUND`, however spelt (`not-found`); a number is an HTTP status. */
function kindOfCode(code: string): FailureKind | undefined {
  const name = canonical(code)
  return /^\d{3}$/.test(name) ? kindOfHttp(Number(name)) : kinds.get(name)
}

function canonical(code: string): string {
  return code
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, '_')
}

/** One call that is being made: what its failures are reported with. */
export interface Asked {
  readonly operation: Operation
  readonly filter: UsersFilter | CommentsFilter
  /** Values that a message must never hold, even where the service sends them back. */
  readonly secrets: readonly string[]
}

export interface FailedCall {
  readonly httpStatus?: number
  /** `error.status` of the body. */
  readonly code?: string | null
  readonly shape?: Shape | null
  /** What happened in words, ours or the service's. */
  readonly detail: string
  readonly retryAfterMs?: number | null
  readonly cause?: unknown
}

/** The error of a call that gave no usable answer: its kind by the table, its ids in the message. */
export function callFailure(asked: Asked, failed: FailedCall): CallError {
  const { code = null, shape = null, httpStatus = null, retryAfterMs = null } = failed
  const clean = (text: string): string => withoutSecrets(text, asked.secrets)
  const word = code === null ? null : clean(code).slice(0, MAX_CODE_CHARS)
  const head = [httpStatus && `HTTP ${httpStatus}`, word].filter(Boolean).join(' ')
  const detail = clean(failed.detail).slice(0, MAX_DETAIL_CHARS)
  const said = [head, detail].filter(Boolean).join(', ')
  return new CallError(`${describeCall(asked.operation, asked.filter)} failed: ${said}`, {
    kind: classify({ httpStatus, code, shape }),
    httpStatus,
    errorStatus: word ?? shape,
    retryAfterMs,
    cause: failed.cause,
  })
}

const MAX_CODE_CHARS = 100
const MAX_DETAIL_CHARS = 300

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text)
}
