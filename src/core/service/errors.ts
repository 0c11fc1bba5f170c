import { CallError } from '../../base/errors.ts'
import type { FailureKind } from '../../base/errors.ts'
import type { Filters, Operation } from '../../base/operations.ts'
import { describeCall } from './filters.ts'

/** What is known of a call that failed. */
export interface FailedCall {
  /** Left out if there was no response. */
  readonly httpStatus?: number
  /** `error.status` of the body. */
  readonly code?: string | null
  readonly shape?: Shape | null
  /** What happened in words, ours or the service's. */
  readonly detail: string
  readonly retryAfterMs?: number | null
  /** Milliseconds until the quota resets. A throttled call waits for this time where `retryAfterMs` is null. */
  readonly resetMs?: number | null
  readonly cause?: unknown
}

interface Row {
  /** A row is met by one of its HTTP statuses, codes or shapes, or by a header that says when to retry. */
  readonly http?: readonly (number | '3xx' | '5xx')[]
  readonly code?: readonly string[]
  readonly retryAfter?: true
  readonly shape?: readonly string[]
  readonly kind: FailureKind
  readonly because: string
}

/**
 * What each failure means: the first row that is met decides, and what meets none is `unknown`. The service's own codes and
 * statuses are not known (docs/SERVICE.md, Errors), so these are the usual ones of HTTP and of gRPC. A code is more exact than
 * the HTTP status around it, which may be a proxy's; a code that is a number is an HTTP status.
 */
// prettier-ignore
const TABLE = [
  { http: [401], code: ['UNAUTHENTICATED'],
                                kind: 'credentials', because: 'the service refuses key or token, for every scope' },
  { http: ['3xx'],              kind: 'refused',     because: 'not followed: it could send the credentials to another server' },
  { http: [429], retryAfter: true,
                                kind: 'throttled',   because: 'the service receives too many calls; the scope is not at fault' },
  { code: ['RESOURCE_EXHAUSTED', 'TOO_MANY_REQUESTS', 'RATE_LIMIT_EXCEEDED', 'THROTTLED'],
                                kind: 'throttled',   because: 'as 429' },

  { code: ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL', 'ABORTED'],
                                kind: 'retry',       because: 'the usual transient codes' },
  { code: ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
                                kind: 'refused',     because: 'as 400' },
  { code: ['PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'],
                                kind: 'refused',     because: 'as 403, 404 and 409' },

  { http: [408, 425],           kind: 'retry',       because: 'the service requests a retry' },
  { http: ['5xx'],              kind: 'retry',       because: 'a failure of the service, which may be temporary' },
  { http: [400, 413, 422],      kind: 'refused',     because: 'the same request would fail again' },
  { http: [403, 404, 409],      kind: 'refused',     because: 'this scope is forbidden, gone or in conflict' },
  { http: [206],                kind: 'unknown',     because: 'collab-sync never requests a part, and a part is not a full response' },

  { http: [407], shape: ['unreachable'],
                                kind: 'unreachable', because: 'no connection; the address is at fault, not this scope' },
  { shape: ['timeout', 'connection'],
                                kind: 'retry',       because: 'the network failed, so the response is unknown' },
  { shape: ['body_cut', 'body_empty', 'body_unreadable', 'body_not_utf8', 'body_ambiguous', 'web_page', 'no_data'],
                                kind: 'retry',       because: 'the response was damaged, or a proxy sent it' },
  { shape: ['error_without_code'],
                                kind: 'retry',       because: 'the service does not explain the failure' },
  { shape: ['body_too_large', 'headers_too_large', 'too_many_records'],
                                kind: 'refused',     because: 'the next response would be as large' },
  { shape: ['throttled'],       kind: 'refused',     because: 'skipped: the service has throttled every call for `SYNC_THROTTLED_MAX_MS`' },
  { shape: ['failed_status'],   kind: 'unknown',     because: '`result.status` is not `success`, the only documented value' },
] as const satisfies readonly Row[]

export const FAILURES: readonly Row[] = TABLE

/** How a response, or the lack of one, failed if neither the HTTP status nor `error.status` says. */
export type Shape =
  Extract<(typeof TABLE)[number], { readonly shape: unknown }>['shape'][number] | 'redirect'

/** The meaning of a failure, by the table. */
export function classify(failed: Omit<FailedCall, 'detail'>): FailureKind {
  return FAILURES.find((row) => isMet(row, failed))?.kind ?? 'unknown'
}

function isMet(row: Row, failed: Omit<FailedCall, 'detail'>): boolean {
  const { httpStatus, code = null, shape = null, retryAfterMs = null } = failed
  if (row.retryAfter === true && retryAfterMs !== null) return true
  const name = code === null ? null : canonical(code)
  const status = name !== null && /^\d{3}$/.test(name) ? Number(name) : httpStatus
  if (row.http?.some((one) => one === status || one === `${String(status)[0]}xx`)) return true
  if (name !== null) return row.code?.includes(name) ?? false
  // A code takes precedence over the shape of the body, even an unknown code.
  return shape !== null && (row.shape?.includes(shape) ?? false)
}

/** True where the service, or one host of it, cannot take calls at present. */
export function isUnavailable({ httpStatus, errorStatus }: CallError): boolean {
  return httpStatus === 503 || ['UNAVAILABLE', '503'].includes(canonical(errorStatus ?? ''))
}

/**
 * True where the service forbids the call: 403 or PERMISSION_DENIED. It may forbid the scope or the operation only, and some
 * services say so of a token that has expired.
 */
export function isForbidden({ kind, httpStatus, errorStatus }: CallError): boolean {
  if (kind !== 'refused') return false
  return httpStatus === 403 || canonical(errorStatus ?? '') === 'PERMISSION_DENIED'
}

/** Codes are compared as `NOT_FOUND`, however spelt (`not-found`). */
function canonical(code: string): string {
  return code
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, '_')
}

/** One call that is being made: what its failures are reported with. */
export interface CallTarget {
  readonly operation: Operation
  readonly filter: Filters[Operation]
  /** Texts that no message and no table may contain, even if the service returns them. */
  readonly secrets: readonly string[]
}

/** The error of a call that got no usable response: its kind by the table, its ids in the message. */
export function callFailure(target: CallTarget, failed: FailedCall): CallError {
  const { code = null, shape = null, httpStatus = null, retryAfterMs = null } = failed
  const kind = classify(failed)
  const clean = (text: string): string => withoutSecrets(text, target.secrets)
  const word = code === null ? null : clean(code).slice(0, MAX_CODE_CHARS)
  const head = [httpStatus && `HTTP ${httpStatus}`, word].filter(Boolean).join(' ')
  const detail = clean(failed.detail).slice(0, MAX_DETAIL_CHARS)
  const said = [head, detail].filter(Boolean).join(', ')
  return new CallError(`${describeCall(target.operation, target.filter)} failed: ${said}`, {
    kind,
    httpStatus,
    errorStatus: word ?? shape,
    retryAfterMs: retryAfterMs ?? (kind === 'throttled' ? (failed.resetMs ?? null) : null),
    cause: failed.cause,
  })
}

const MAX_CODE_CHARS = 100
const MAX_DETAIL_CHARS = 300

/** A secret as a response may repeat it: itself, and its base64 without padding. */
export function formsOfSecret(secret: string): string[] {
  return [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')]
}

/** A text without secrets and their base64. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text)
}
