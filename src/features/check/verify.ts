import { openReadOnly } from '../../core/database/pool.ts'
import type { Database } from '../../core/database/pool.ts'
import { idsOf, readScopes } from '../../core/database/scopes.ts'
import type { ScopeIds } from '../../core/database/scopes.ts'
import * as batches from '../../core/database/statements/batches.ts'
import * as statements from '../../core/database/statements/scopes.ts'
import { operationsOf } from '../../schemas/scope.ts'
import type { Scope } from '../../schemas/scope.ts'
import type { Operation } from '../../base/operations.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { nothingToDo, scopesOfRun } from '../../core/run/start.ts'
import type { ScopeInBatch } from '../../core/run/start.ts'
import { compareContents } from './contents.ts'
import type { ContentDifference } from './contents.ts'
import { fetchEach } from './fetch-each.ts'

export interface Difference extends ScopeIds, ContentDifference {
  readonly operation: Operation
  /** When the last successful check of its scope began; null if there was none. */
  readonly checkedAt: Date | null
}

/** A scope without a usable response. */
export interface FailedCheck extends ScopeIds {
  readonly operation: Operation
  readonly message: string
}

const NO_DIFFERENCES = {
  /** Records that differ, apart from the next four counts. */
  differing: 0,
  /** Comments that changed at the service after the last check; the next run writes them. */
  changedSince: 0,
  /** Rejected records that were set aside; the tables lack them. */
  setAside: 0,
  /** Users whose removal is pending approval. */
  held: 0,
  /** Users whose removal was refused. */
  refused: 0,
}

export interface Verified extends Readonly<typeof NO_DIFFERENCES> {
  /** Compared scopes. */
  readonly scopes: number
  /** Compared records: of the service, the tables or both. */
  readonly records: number
  /** `differing` / `records`, 0 to 1. */
  readonly errorRate: number
  /** Scopes without a usable response; the counts above exclude them. */
  readonly failed: number
  readonly calls: number
  /** The first 100 differences; `onDifference` receives all. */
  readonly differences: readonly Difference[]
  readonly failures: readonly FailedCheck[]
}

const SAMPLE = 100
/** Limit of `differences` and of `failures`. */
const KEPT_MAX = 100

/**
 * Fetches scopes again and compares their records with the tables, over read-only connections. As in a run, a stored comment
 * that is missing from a listing is fetched by its ID.
 * @param of.sample number of random scopes of the catalog; 100 by default
 * @param of.scope compares this scope as a whole instead
 * @throws UsageError if the scope is not in the catalog or the catalog is empty; CallError if the service refuses the
 *   credentials; DrainingError when the process stops
 */
export async function verify(
  context: SyncContext,
  of: { sample?: number; scope?: Scope } = {},
  onDifference: (difference: Difference) => void = () => {},
): Promise<Verified> {
  const { scope = {} } = of
  const counts = { scopes: 0, records: 0, failed: 0, ...NO_DIFFERENCES }
  const differences: Difference[] = []
  const failures: FailedCheck[] = []
  const failed = ({ operation, scope: each }: ScopeInBatch, { message }: Error): void => {
    counts.failed += 1
    if (failures.length < KEPT_MAX) failures.push({ operation, ...idsOf(each), message })
  }
  const database = openReadOnly(context.database)
  const scopes = of.scope
    ? scopesOfRun(context, { scope })
    : sampleScopes(database, operationsOf(scope, context.operations), of.sample ?? SAMPLE)
  const requested = { database, scopes: asUnknown(scopes), scope }
  try {
    const { calls } = await fetchEach(context, requested, async (place, result) => {
      const { batchKey, operation } = place
      if (result.outcome === 'unchanged') throw new Error('A scope without digests is unchanged.')
      if (result.outcome === 'failed') return failed(place, result.error)
      if (result.incomplete !== null) return failed(place, result.incomplete)
      const check = await statements.readCheck.first(database, {
        batchKey,
        scopeNo: place.scope.scopeNo,
      })
      const checkedAt = check?.checkedAt ?? null
      const compared = await compareContents(database, result, checkedAt)
      counts.scopes += 1
      counts.records += compared.records
      for (const each of compared.differences) {
        const difference = { operation, ...idsOf(place.scope), checkedAt, ...each }
        counts[kindOf(each)] += 1
        if (differences.length < KEPT_MAX) differences.push(difference)
        onDifference(difference)
      }
    })
    const errorRate = counts.records === 0 ? 0 : counts.differing / counts.records
    return { ...counts, errorRate, calls, differences, failures }
  } finally {
    await database.end()
  }
}

/** The field of {@link Verified} that counts a difference. */
function kindOf(difference: ContentDifference): keyof typeof NO_DIFFERENCES {
  const { isSetAside, isChangedSince, removal } = difference
  if (isSetAside) return 'setAside'
  return isChangedSince ? 'changedSince' : (removal ?? 'differing')
}

/** Removes the digests of the last responses, so that no response counts as unchanged. */
async function* asUnknown(scopes: AsyncIterable<ScopeInBatch>): AsyncGenerator<ScopeInBatch> {
  for await (const { scope, ...place } of scopes)
    yield { ...place, scope: { ...scope, bodyDigest: null, contentDigest: null, hasRows: true } }
}

/**
 * Random scopes, without duplicates, each as likely as any other.
 * @throws UsageError if the catalog is empty
 */
async function* sampleScopes(
  database: Database,
  operations: readonly Operation[],
  limit: number,
): AsyncGenerator<ScopeInBatch> {
  const drawn = await batches.sample.all(database, { operations, limit })
  if (drawn.length === 0) throw nothingToDo({})
  for (const { batchKey, operation, places } of drawn) {
    const scopes = await readScopes(database, batchKey, operation)
    for (const place of places) {
      const scope = scopes[place]
      // An import may have removed some since the count.
      if (scope !== undefined) yield { batchKey, operation, scope }
    }
  }
}
