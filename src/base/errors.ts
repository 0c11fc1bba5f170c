/** Every error class of collab-sync, grouped by what its catcher should do. */

/** Wrong settings, options, files or scope: nothing was done. One sentence for a person; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/**
 * What is said wherever the catalog lacks what is named.
 * @param what such as `Document`
 */
export function notInCatalog(what: string, id: string): UsageError {
  return new UsageError(
    `${what} ${JSON.stringify(id)} is not in the catalog; add it with --add (programs: add: true), or with: collab-sync catalog import FILE.`,
  )
}

/** A retry of failed scopes has nothing to do: the commands report it as a result, other callers as wrong usage. */
export class NothingFailsError extends UsageError {
  override name = 'NothingFailsError'
  /** True if a run was stopped before it fetched all scopes, so that it is unknown whether they fail. */
  readonly isUnknown: boolean

  constructor(message: string, isUnknown: boolean) {
    super(message)
    this.isUnknown = isUnknown
  }
}

/** The feed of changes no longer knows this cursor; its reader has to start from the beginning. */
export class CursorGoneError extends UsageError {
  override name = 'CursorGoneError'
}

/**
 * What a failed call means for its scope:
 * - `retry`: the same call may succeed in a moment;
 * - `throttled`: the service receives too many calls: all processes slow down, and the call is retried;
 * - `refused`: the service refuses this scope, and a retry is pointless;
 * - `credentials`: the service refuses key or token, so that no call of this run can succeed;
 * - `unreachable`: no connection to the service can be made: no call of this process can succeed at present;
 * - `unknown`: a response without a known meaning: a few tries, then the scope fails.
 */
export type FailureKind =
  'retry' | 'throttled' | 'refused' | 'credentials' | 'unreachable' | 'unknown'

/** A call to the service without a usable response. Never holds a credential. */
export class CallError extends Error {
  override name = 'CallError'
  readonly kind: FailureKind
  /** HTTP status; null where there was no response. */
  readonly httpStatus: number | null
  /** `error.status` of the body (docs/SERVICE.md, Errors); our own word in lower case where the body has none, such as `timeout` or `bad_body`. */
  readonly errorStatus: string | null
  /** The service's own time until a retry, not capped; null where it sent none. */
  readonly retryAfterMs: number | null
  /** Tries made of this call so far; the retry loop sets it. */
  attempts = 1

  constructor(
    message: string,
    facts: {
      kind: FailureKind
      httpStatus?: number | null
      errorStatus?: string | null
      retryAfterMs?: number | null
      cause?: unknown
    },
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.kind = facts.kind
    this.httpStatus = facts.httpStatus ?? null
    this.errorStatus = facts.errorStatus ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }

  /** True where every other call would fail as well: the failure does not concern the scope. */
  get concernsEveryCall(): boolean {
    return this.kind === 'credentials' || this.kind === 'unreachable'
  }

  /** The same failure with another kind or message; this one is its cause. */
  as({ kind = this.kind, message = this.message }: Partial<CallError>): CallError {
    const { httpStatus, errorStatus, retryAfterMs, attempts } = this
    const facts = { kind, httpStatus, errorStatus, retryAfterMs, cause: this }
    return Object.assign(new CallError(message, facts), { attempts })
  }
}

/** The run was stopped (cancelled, or its credentials were refused) while this work was in progress. */
export class RunStoppedError extends Error {
  override name = 'RunStoppedError'
}

/** The worker is stopping: what is committed stays, the rest goes back to the queue. */
export class DrainingError extends Error {
  override name = 'DrainingError'
}

/** This worker cannot call the service, and others can: what it works on goes back to the queue, and it rests for a while. */
export class WithdrawnError extends DrainingError {
  override name = 'WithdrawnError'
}

/** A fault of the environment that an operator has to fix (a server that does not start, a schema that is too old). */
export class EnvironmentError extends Error {
  override name = 'EnvironmentError'
}

/** The tables are missing, or this program does not work with them: nothing was done, exit code 2. */
export class SchemaError extends EnvironmentError {
  override name = 'SchemaError'
  /** Whether `migrate` makes them usable. A worker waits for it. */
  readonly isPending: boolean

  constructor(message: string, { isPending }: { isPending: boolean }) {
    super(message)
    this.isPending = isPending
  }
}
