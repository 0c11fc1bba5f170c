import { randomInt } from 'node:crypto'
import { openReadOnly } from '../../core/database/pool.ts'
import type { Database } from '../../core/database/pool.ts'
import { readScopes } from '../../core/database/scopes.ts'
import type { ScopeIds } from '../../core/database/scopes.ts'
import * as batches from '../../core/database/statements/batches.ts'
import * as scopes from '../../core/database/statements/scopes.ts'
import { operationsOf } from '../../documents/scope.ts'
import type { Scope } from '../../documents/scope.ts'
import { CallError, UsageError } from '../../base/errors.ts'
import type { Operation } from '../../base/errors.ts'
import { compareContents } from '../../core/sync/compare/contents.ts'
import type { ContentDifference } from '../../core/sync/compare/contents.ts'
import type { SyncContext } from '../../core/sync/context.ts'
import { noCallStats } from '../../core/sync/counts.ts'
import { askScope, inParallel } from '../../core/sync/fetch/schedule.ts'
import { scopesOfRun } from '../../core/run/start.ts'
import type { ScopeInBatch } from '../../core/run/start.ts'

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
  /** Scopes that gave no usable answer, and are in none of the counts above. */
  readonly failed: number
  readonly calls: number
  /** The first differences; `onDifference` hears of all. */
  readonly differences: readonly Difference[]
  readonly failures: readonly FailedCheck[]
}

const SAMPLE = 100
/** Most differences and failures that are kept for the report. */
const KEPT_MAX = 100

/**
 * Asks the service again and compares record by record with the tables; writes nothing, by connections that cannot. Absence
 * is judged as in a run: a stored comment that a listing lacks is asked for by its id.
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
  const stats = noCallStats()
  const tally = new Tally(onDifference)
  const database = openReadOnly(context.database)
  const asking = {
    collabApi: context.collabApi,
    database,
    maxIds: context.maxIds,
    rules: await context.rules.now(),
    call: { stats, signal: context.drained },
  }
  const scope = of.scope ?? {}
  const places =
    of.scope === undefined
      ? sampleScopes(database, operationsOf(scope, context.operations), of.sample ?? SAMPLE)
      : scopesOfRun(context, { scope })
  context.collabApi.startAfresh()
  try {
    await inParallel(places, 2 * context.collabApi.concurrency().limit, async (place) => {
      try {
        const result = await askScope(asking, place.operation, unknownToUs(place), scope)
        if (result.outcome === 'unchanged') throw new Error('An answer was taken for a known one.')
        if (result.outcome === 'failed') throw result.error
        if (result.incomplete !== null) throw result.incomplete
        await tally.compare(database, place, result)
      } catch (error) {
        if (!(error instanceof CallError) || error.concernsEveryCall) throw error
        tally.failed(place, error)
      }
    })
  } finally {
    await database.end()
  }
  return { ...tally.report(), calls: stats.calls }
}

/** The scope as if no answer to it were known: every answer is read, and every stored record is looked for. */
function unknownToUs({ scope }: ScopeInBatch) {
  return { ...scope, bodyDigest: null, contentDigest: null, hasRows: true }
}

class Tally {
  readonly #onDifference: (difference: Difference) => void
  readonly #differences: Difference[] = []
  readonly #failures: FailedCheck[] = []
  #scopes = 0
  #records = 0
  #differing = 0
  #changedSince = 0
  #setAside = 0
  #held = 0
  #refused = 0
  #failed = 0

  constructor(onDifference: (difference: Difference) => void) {
    this.#onDifference = onDifference
  }

  async compare(
    database: Database,
    { batchKey, operation, scope }: ScopeInBatch,
    result: Parameters<typeof compareContents>[1],
  ): Promise<void> {
    const { kind, key } = scope
    const check = await scopes.readCheck.first(database, { batchKey, kind, key })
    const checkedAt = check?.checkedAt ?? null
    const { records, differences } = await compareContents(database, result, checkedAt)
    this.#scopes += 1
    this.#records += records
    for (const each of differences) {
      const difference = { operation, ...idsOf(scope), checkedAt, ...each }
      if (each.isSetAside) this.#setAside += 1
      else if (each.isChangedSince) this.#changedSince += 1
      else if (each.removal === 'held') this.#held += 1
      else if (each.removal === 'refused') this.#refused += 1
      else this.#differing += 1
      if (this.#differences.length < KEPT_MAX) this.#differences.push(difference)
      this.#onDifference(difference)
    }
  }

  failed({ operation, scope }: ScopeInBatch, { message }: CallError): void {
    this.#failed += 1
    if (this.#failures.length < KEPT_MAX)
      this.#failures.push({ operation, ...idsOf(scope), message })
  }

  report(): Omit<Verified, 'calls'> {
    return {
      scopes: this.#scopes,
      records: this.#records,
      differing: this.#differing,
      changedSince: this.#changedSince,
      setAside: this.#setAside,
      held: this.#held,
      refused: this.#refused,
      errorRate: this.#records === 0 ? 0 : this.#differing / this.#records,
      failed: this.#failed,
      differences: this.#differences,
      failures: this.#failures,
    }
  }
}

function idsOf(scope: ScopeIds): ScopeIds {
  const { organizationId, documentId, annotationId, organizationUserGroupId } = scope
  return { organizationId, documentId, annotationId, organizationUserGroupId }
}

/** Positions looked up in one statement. */
const POSITIONS_A_PAGE = 1000

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
  const drawn = drawPositions(total, Math.min(sample, total))
  for (let start = 0; start < drawn.length; start += POSITIONS_A_PAGE) {
    const positions = drawn.slice(start, start + POSITIONS_A_PAGE)
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
