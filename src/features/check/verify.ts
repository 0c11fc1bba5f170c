import { randomInt } from 'node:crypto'
import { openReadOnly } from '../../core/database/pool.ts'
import type { Database } from '../../core/database/pool.ts'
import { readScopes } from '../../core/database/scopes.ts'
import type { ScopeIds } from '../../core/database/scopes.ts'
import * as batches from '../../core/database/statements/batches.ts'
import * as statements from '../../core/database/statements/scopes.ts'
import { operationsOf } from '../../documents/scope.ts'
import type { Scope } from '../../documents/scope.ts'
import { UsageError } from '../../base/errors.ts'
import type { Operation } from '../../base/errors.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { scopesOfRun } from '../../core/run/start.ts'
import type { ScopeInBatch } from '../../core/run/start.ts'
import { compareContents } from './contents.ts'
import type { ContentDifference } from './contents.ts'
import { fetchEach, idsOf } from './fetch-each.ts'

/** A record in which the tables and the service differ, and where. */
export interface Difference extends ScopeIds, ContentDifference {
  readonly operation: Operation
  /** When the last good check of its scope began; null where there was none. */
  readonly checkedAt: Date | null
}

/** A scope that could not be compared. */
export interface FailedCheck extends ScopeIds {
  readonly operation: Operation
  readonly message: string
}

export interface Verified {
  /** Scopes that were compared. */
  readonly scopes: number
  /** Records that the service, the tables or both hold of them. */
  readonly records: number
  /** Records that differ, without those that the next four members count. */
  readonly differing: number
  /** Comments that the service says were changed after the last check: the next run brings them. */
  readonly changedSince: number
  /** Rejected records that a person has set aside: the tables lack them, and that is known. */
  readonly setAside: number
  /** Users that a listing lacks and whose removal waits for a decision. */
  readonly held: number
  /** Users that a listing lacks and whose removal was refused. */
  readonly refused: number
  /** `differing` of `records`, 0 to 1. */
  readonly errorRate: number
  /** Scopes that gave no usable response, and are in none of the counts above. */
  readonly failed: number
  readonly calls: number
  /** The first differences; `onDifference` is called with all. */
  readonly differences: readonly Difference[]
  readonly failures: readonly FailedCheck[]
}

const SAMPLE = 100
/** Most differences and failures that are kept for the report. */
const KEPT_MAX = 100

/**
 * Fetches scopes again and compares record by record with the tables; writes nothing, by connections that cannot. Absence
 * is judged as in a run: a stored comment that a listing lacks is fetched by its id.
 * @param of.sample how many random scopes of the catalog, 100 when left out; each is as likely as any other
 * @param of.scope compares all of this scope instead
 * @throws UsageError where the scope is not in the catalog or the catalog is empty; CallError where the credentials are
 *   refused; DrainingError when the process stops
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
  const asked = { database, scopes: asUnknown(scopes), scope }
  try {
    const { calls } = await fetchEach(context, asked, async (place, result) => {
      const { batchKey, operation } = place
      const { kind, key } = place.scope
      if (result.outcome === 'unchanged') throw new Error('A response was taken for a known one.')
      if (result.outcome === 'failed') return failed(place, result.error)
      if (result.incomplete !== null) return failed(place, result.incomplete)
      const check = await statements.readCheck.first(database, { batchKey, kind, key })
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

const NO_DIFFERENCES = { differing: 0, changedSince: 0, setAside: 0, held: 0, refused: 0 }

/** Which member of {@link Verified} counts a difference. */
function kindOf(difference: ContentDifference): keyof typeof NO_DIFFERENCES {
  const { isSetAside, isChangedSince, removal } = difference
  if (isSetAside) return 'setAside'
  return isChangedSince ? 'changedSince' : (removal ?? 'differing')
}

/** Scopes as if no response to them were known: every response is read, and every stored record is looked for. */
async function* asUnknown(scopes: AsyncIterable<ScopeInBatch>): AsyncGenerator<ScopeInBatch> {
  for await (const { scope, ...place } of scopes)
    yield { ...place, scope: { ...scope, bodyDigest: null, contentDigest: null, hasRows: true } }
}

/**
 * Random scopes, none twice, each as likely as any other. Scopes are thought of as counted through, batch by batch; random
 * numbers are drawn of that count, and only the batches they fall into are read, however large the catalog is.
 * @param sample most scopes; all there are where that is more
 * @throws UsageError where the catalog is empty
 */
async function* sampleScopes(
  database: Database,
  operations: readonly Operation[],
  sample: number,
): AsyncGenerator<ScopeInBatch> {
  const { scopes: total } = await batches.countScopes.one(database, { operations })
  if (total === 0)
    throw new UsageError('The catalog is empty; fill it with: collab-sync catalog import FILE.')
  const positions = drawPositions(total, Math.min(sample, total))
  const found = await batches.atPositions.all(database, { operations, positions })
  for (const { batchKey, operation, places } of found) {
    const scopes = await readScopes(database, batchKey, operation)
    for (const place of places) {
      const scope = scopes[place]
      // The catalog may have lost some since they were counted.
      if (scope !== undefined) yield { batchKey, operation, scope }
    }
  }
}

/** Distinct random numbers below `total` (Floyd's algorithm: as many draws as numbers). */
function drawPositions(total: number, count: number): number[] {
  const drawn = new Set<number>()
  for (let upTo = total - count; upTo < total; upTo++) {
    const position = randomInt(upTo + 1)
    drawn.add(drawn.has(position) ? upTo : position)
  }
  return [...drawn]
}
