import type { CallError, Operation } from '../errors.ts'
import type { Client } from './pool.ts'
import type { BatchScope } from './scopes.ts'
import { sql } from './sql.ts'

/** A scope that gave no usable answer. */
export interface ScopeFailure {
  readonly scope: BatchScope
  readonly error: CallError
}

/** A record, or a member of one, that could not be stored. */
export interface RejectedRecord {
  readonly scope: BatchScope
  readonly reason: string
  /** JSON text as received. */
  readonly record: string
  /** True where nothing of the record is stored. */
  readonly isWhole: boolean
  /** Of its scope and content, by which it can be set aside; null where its text is not known. */
  readonly digest: Buffer | null
}

/** Keeps failures of scopes; those whose meaning nobody knows are counted in `sync.observed_errors` too. */
export async function insertFailures(
  client: Client,
  where: { runId: string; batchKey: number; operation: Operation },
  failures: readonly ScopeFailure[],
): Promise<void> {
  if (failures.length === 0) return
  const scopes = failures.map(({ scope }) => scope)
  const errors = failures.map(({ error }) => error)
  await client.query(sql('failures/insert'), [
    where.runId,
    where.batchKey,
    where.operation,
    scopes.map(({ scopeNo }) => scopeNo),
    ...idColumns(scopes),
    errors.map(({ httpStatus }) => httpStatus),
    errors.map(({ errorStatus }) => storable(errorStatus)),
    errors.map(({ message }) => storable(message)),
    errors.map(({ attempts }) => attempts),
  ])
  await noteUnknown(client, where.operation, errors)
}

export async function insertRejectedRecords(
  client: Client,
  where: { runId: string; operation: Operation },
  rejected: readonly RejectedRecord[],
): Promise<void> {
  if (rejected.length === 0) return
  await client.query(sql('rejected/insert'), [
    where.runId,
    where.operation,
    ...idColumns(rejected.map(({ scope }) => scope)),
    rejected.map(({ reason }) => reason),
    rejected.map(({ record }) => record),
    rejected.map(({ isWhole }) => isWhole),
    rejected.map(({ digest }) => digest),
  ])
}

/** So that the set of codes, which the service does not document, becomes known. */
async function noteUnknown(
  client: Client,
  operation: Operation,
  errors: readonly CallError[],
): Promise<void> {
  const unknown = errors.filter(({ kind }) => kind === 'unknown')
  if (unknown.length === 0) return
  await client.query(sql('observed-errors/note'), [
    operation,
    unknown.map(({ httpStatus }) => httpStatus ?? 0),
    unknown.map(({ errorStatus }) => storable(errorStatus) ?? ''),
    unknown.map(({ message }) => storable(message)),
  ])
}

function idColumns(scopes: readonly BatchScope[]): (string | null)[][] {
  return [
    scopes.map(({ organizationId }) => organizationId),
    scopes.map(({ documentId }) => documentId),
    scopes.map(({ annotationId }) => annotationId),
    scopes.map(({ organizationUserGroupId }) => organizationUserGroupId),
  ]
}

/** What the service said of an error may hold anything, and the row must land all the same. */
function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '').toWellFormed()
}
