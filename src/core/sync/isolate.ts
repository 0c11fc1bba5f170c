import { isDataFault } from '../database/connection-errors.ts'
import type { BatchScope } from '../database/scopes.ts'
import type { Scope } from '../../schemas/scope.ts'
import { CallError, DrainingError, EnvironmentError, RunStoppedError } from '../../base/errors.ts'
import type { Operation } from '../../base/operations.ts'
import { SupersededError } from '../run/claim.ts'
import type { Fetching } from './fetch/listing.ts'
import type { FailedResult, FetchedResult, RecordsResult } from './fetch/result.ts'
import { fetchScope } from './fetch/scope.ts'
import { moduleOf } from './operation.ts'
import { processingFault, tooManyRejected } from './record/received.ts'

/** Whether an error concerns what was received, and not the run, the worker or a server: it then fails one record or scope. */
export function isScopeFault(error: unknown): boolean {
  if (error instanceof CallError) return !error.concernsEveryCall
  const isOfTheWork =
    error instanceof SupersededError ||
    error instanceof RunStoppedError ||
    error instanceof DrainingError ||
    error instanceof EnvironmentError
  return !isOfTheWork && isDataFault(error)
}

/** A scope that cannot be processed, for any reason. */
export function failedBy(scope: BatchScope, error: unknown): FailedResult {
  if (error instanceof CallError) return { outcome: 'failed', scope, error }
  const failure = new CallError(
    `The response ${processingFault(error)}. Nothing of it was stored. This is a bug in collab-sync: please report it.`,
    { kind: 'refused', errorStatus: 'could_not_be_processed', cause: error },
  )
  return { outcome: 'failed', scope, error: failure }
}

/**
 * Fetches a scope again whose response could not be stored, and rejects only the records that PostgreSQL refuses. Bisection
 * finds them: one bad record among 1,000 takes about 20 trials.
 * @param trial writes some records of the response and rolls back. @throws if they cannot be stored
 * @throws as fetchScope; what a trial throws for another reason than the data
 */
export async function isolateRecords(
  fetching: Fetching,
  operation: Operation,
  scope: BatchScope,
  limits: Pick<Scope, 'userIds' | 'commentIds'>,
  trial: (part: RecordsResult) => Promise<void>,
): Promise<FetchedResult> {
  // Without digests, the response is read even if it is the same.
  const unknown = { ...scope, bodyDigest: null, contentDigest: null }
  const result = await fetchScope(
    { ...fetching, keepsTexts: true, isAwaited: true },
    operation,
    unknown,
    limits,
  )
  if (result.outcome !== 'records') return result
  const module = moduleOf(operation)
  const alone = { gone: [], rejects: [], incomplete: null }
  const refused = await refusedOf(result.records, (records) =>
    trial({ ...result, ...alone, records }),
  )
  const bad = new Set(refused.map(({ record }) => record))
  const rejects = refused.map(({ record, error }) => ({
    reason: processingFault(error),
    record: result.texts?.get(module.idOf(record)) ?? '',
    isWhole: true,
  }))
  return {
    ...result,
    records: result.records.filter((record) => !bad.has(record)),
    rejects: [...result.rejects, ...rejects],
    rejectedItems: result.rejectedItems + rejects.length,
    rejectedIds: new Set([...result.rejectedIds, ...[...bad].map((record) => module.idOf(record))]),
    // The next response must be read again, even if it is the same.
    bodyDigest: null,
  }
}

/** The records that cannot be stored by themselves. */
async function refusedOf<T>(
  records: readonly T[],
  trial: (records: readonly T[]) => Promise<void>,
): Promise<{ record: T; error: unknown }[]> {
  try {
    await trial(records)
    return []
  } catch (error) {
    if (!isScopeFault(error)) throw error
    const [record] = records
    if (record === undefined) throw error
    if (records.length === 1) return [{ record, error }]
    const half = records.length >> 1
    const refused = await refusedOf(records.slice(0, half), trial)
    if (refused.length <= REFUSED_MAX)
      refused.push(...(await refusedOf(records.slice(half), trial)))
    if (refused.length > REFUSED_MAX) throw tooManyRejected(records.length)
    return refused
  }
}

/** Most records that are rejected in this way; with more, the response or the tables are at fault. */
const REFUSED_MAX = 100
