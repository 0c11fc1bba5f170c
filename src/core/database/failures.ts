import { storable } from '../../schemas/check.ts'
import type { CallError } from '../../base/errors.ts'
import type { Operation } from '../../base/operations.ts'
import type { Client } from './pool.ts'
import type { BatchScope } from './scopes.ts'
import type { On } from './statement.ts'
import * as statements from './statements/failures.ts'
import * as observedErrors from './statements/observed-errors.ts'
import * as rejectedRecords from './statements/rejected.ts'

/** A scope that returned no usable response. */
export interface ScopeFailure {
  readonly scope: BatchScope
  readonly error: CallError
}

/** A record, or a member of one, that could not be stored. */
export interface RejectedRecord {
  readonly scope: BatchScope
  /** Names the member, and the column that was set to null if the rest of the record was stored. */
  readonly reason: string
  /** The record's JSON text as received; one that is longer than a record may be is cut there. */
  readonly record: string
  /** True where nothing of the record is stored; false where a member is missing, or an equal record is stored. */
  readonly isWhole: boolean
  /** Digest of its scope and content; identifies the record in later responses. */
  readonly digest: Buffer
}

/** Stores failures of scopes; those of unknown meaning are also counted in `sync.observed_errors`. */
export async function insertFailures(
  client: Client,
  where: { runId: string; batchKey: number; operation: Operation },
  failures: readonly ScopeFailure[],
): Promise<void> {
  if (failures.length === 0) return
  const scopes = failures.map(({ scope }) => scope)
  const errors = failures.map(({ error }) => error)
  await statements.insert.run(client, {
    ...where,
    scopeNumbers: scopes.map(({ scopeNo }) => scopeNo),
    ...idColumns(scopes),
    httpStatuses: errors.map(({ httpStatus }) => httpStatus),
    errorStatuses: errors.map(({ errorStatus }) => errorStatus && storable(errorStatus)),
    messages: errors.map(({ message }) => storable(message)),
    attempts: errors.map(({ attempts }) => attempts),
  })
  // The service does not document its error codes: this table collects them.
  const unknown = errors.filter(({ kind }) => kind === 'unknown')
  if (unknown.length === 0) return
  await observedErrors.note.run(client, {
    operation: where.operation,
    httpStatuses: unknown.map(({ httpStatus }) => httpStatus ?? 0),
    errorStatuses: unknown.map(({ errorStatus }) => storable(errorStatus ?? '')),
    messages: unknown.map(({ message }) => storable(message)),
  })
}

/**
 * Stores what was rejected, and notes which earlier rejected records no longer come.
 * @param whole scopes whose whole response was read, and of which a record may have been rejected before
 * @returns how many whole records are lost: rejected, and not set aside
 */
export async function noteRejected(
  client: Client,
  where: { runId: string; operation: Operation; isRefresh: boolean },
  rejected: readonly RejectedRecord[],
  whole: readonly BatchScope[],
): Promise<number> {
  const { operation } = where
  const digests = rejected.map(({ digest }) => digest)
  if (whole.length > 0)
    await rejectedRecords.miss.run(client, { operation, ...idColumns(whole), digests })
  if (rejected.length === 0) return 0
  const { lost } = await rejectedRecords.note.one(client, {
    ...where,
    ...idColumns(rejected.map(({ scope }) => scope)),
    reasons: rejected.map(({ reason }) => reason),
    records: rejected.map(({ record }) => record),
    isWhole: rejected.map(({ isWhole }) => isWhole),
    digests,
  })
  return lost
}

/** Reads which of some rejected contents, by their digests, are set aside; in hex. */
export async function readSetAside(
  on: On,
  digests: readonly (Buffer | null)[],
): Promise<Set<string>> {
  if (digests.length === 0) return new Set()
  const rows = await rejectedRecords.readSetAside.all(on, { digests })
  return new Set(rows.map(({ digest }) => digest.toString('hex')))
}

function idColumns(scopes: readonly BatchScope[]) {
  return {
    organizationIds: scopes.map(({ organizationId }) => organizationId),
    documentIds: scopes.map(({ documentId }) => documentId),
    annotationIds: scopes.map(({ annotationId }) => annotationId),
    userGroupIds: scopes.map(({ organizationUserGroupId }) => organizationUserGroupId),
  }
}
