import { randomInt } from 'node:crypto'
import type { Database } from '../database/pool.ts'
import { readScopes } from '../database/scopes.ts'
import * as batches from '../database/statements/batches.ts'
import { UsageError } from '../errors.ts'
import type { Operation } from '../errors.ts'
import type { ScopeInBatch } from './scopes-of-run.ts'

/** Positions looked up in one statement. */
const POSITIONS_A_PAGE = 1000

/**
 * Random scopes, none twice, each as likely as any other. Scopes are thought of as counted through, batch by batch; random
 * numbers are drawn of that count, and only the batches they fall into are read, however large the catalog is.
 * @param sample most scopes; all there are where that is more
 * @throws UsageError where the catalog is empty
 */
export async function* sampleScopes(
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
