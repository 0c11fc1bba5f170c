import { CallError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import { classify } from './failures.ts'
import type { Shape } from './failures.ts'
import { describeCall } from './filters.ts'
import type { CommentsFilter, UsersFilter } from './filters.ts'

/** One call that is being made: what its failures are told with. */
export interface Asked {
  readonly operation: Operation
  readonly filter: UsersFilter | CommentsFilter
  /** Values that a message must never hold, even where the service sends them back. */
  readonly secrets: readonly string[]
}

export interface Happening {
  readonly httpStatus?: number
  /** `error.status` of the body. */
  readonly code?: string
  readonly shape?: Shape
  /** What happened in words, ours or the service's. */
  readonly detail: string
  readonly retryAfterMs?: number | null
  readonly cause?: unknown
}

/** The error of a call that gave no usable answer: its kind by the table, its ids in the message. */
export function callFailure(asked: Asked, happening: Happening): CallError {
  const { code = null, shape = null, httpStatus = null, retryAfterMs = null } = happening
  const clean = (text: string): string => withoutSecrets(text, asked.secrets)
  const shown = [
    httpStatus === null ? '' : `HTTP ${httpStatus}`,
    code === null ? '' : clean(code).slice(0, MAX_CODE_CHARS),
  ]
  const head = shown.filter((part) => part !== '').join(' ')
  const detail = clean(happening.detail).slice(0, MAX_DETAIL_CHARS)
  const message = `${describeCall(asked.operation, asked.filter)} failed: ${[head, detail].filter((part) => part !== '').join(', ')}`
  const isRedirect = httpStatus !== null && httpStatus >= 300 && httpStatus < 400
  return new CallError(message, {
    kind: classify({ httpStatus, code, shape }),
    httpStatus,
    errorStatus:
      code === null
        ? (shape ?? (isRedirect ? 'redirect' : null))
        : clean(code).slice(0, MAX_CODE_CHARS),
    retryAfterMs,
    cause: happening.cause,
  })
}

const MAX_CODE_CHARS = 100
const MAX_DETAIL_CHARS = 300

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text)
}
