import type { CatalogChanges } from '../../schemas/catalog-line.ts'
import { UsageError } from '../../base/errors.ts'
import { ENTRY_OPERATIONS } from '../../base/operations.ts'
import {
  analyzeWhereLarge,
  beginCatalogChange,
  countChanges,
  deactivateLacking,
  NO_CHANGES,
} from './catalog-change.ts'
import { noteAction } from '../../core/database/actions.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'

/** An import that lacks so many scopes that a person must approve it. */
export interface HeldImport extends Pick<
  RowOf<typeof catalog.countLacking>,
  'scopes' | 'lacking' | 'organizations' | 'firstOrganizationId'
> {
  /** Does not exist after a dry run. */
  readonly importId: number
  /** Whether an import that lacks the same scopes was refused. It is not held again. */
  readonly isRefused: boolean
}

/** Holds an import if too many scopes are staged as lacking. @returns null if it may be applied */
export async function holdImport(
  client: Client,
  by: { readonly source: string; readonly requestedBy: string; readonly lines: number },
): Promise<HeldImport | null> {
  const { isMuch, digest, ...counts } = await catalog.countLacking.one(client, {
    operations: ENTRY_OPERATIONS,
  })
  if (!isMuch) return null
  const decided = await catalog.findDecided.first(client, { digest, source: by.source })
  if (decided !== undefined)
    return { ...counts, importId: decided.importId, isRefused: decided.state === 'refused' }
  await catalog.replaceHeld.run(client)
  const { importId } = await catalog.holdImport.one(client, { ...by, ...counts, digest })
  return { ...counts, importId, isRefused: false }
}

export interface ImportDecision {
  readonly importId: number
  readonly state: 'accepted' | 'refused'
  readonly decidedBy: string
  readonly reason: string | null
}

/**
 * Accepts or refuses the held import. If it is accepted, the scopes that it lacks become inactive, except those that were named
 * since; the next import adds what it adds. If it is refused, an import that lacks the same scopes is not held again until a
 * complete list is applied.
 * @returns `deactivated`: the number of scopes that became inactive
 * @throws UsageError if it is not held: a later one may have replaced it
 */
export async function decideImport(
  database: Database,
  { importId, state, decidedBy, reason }: ImportDecision,
): Promise<Pick<ImportDecision, 'importId' | 'state'> & { deactivated: number }> {
  const changes = await transaction(database, async (client) => {
    await beginCatalogChange(client)
    const held = await catalog.heldImport.first(client)
    if (held?.importId !== importId) {
      const other = held === undefined ? 'none is' : `import ${held.importId} is`
      throw new UsageError(
        `Import ${importId} of the catalog is not held, ${other}: see collab-sync catalog show.`,
      )
    }
    const done = state === 'accepted' ? await applyHeld(client, importId) : NO_CHANGES
    const { removed } = countChanges(done)
    await catalog.decideImport.run(client, { importId, state, decidedBy, reason, removed })
    const target = `import ${importId}: ${removed} removed`
    await noteAction(client, decidedBy, `import_${state}`, { target, reason })
    return done
  })
  await analyzeWhereLarge(database, changes)
  return { importId, state, deactivated: countChanges(changes).removed }
}

async function applyHeld(client: Client, importId: number): Promise<CatalogChanges> {
  await catalog.stageHeld.run(client, { importId })
  await catalog.analyzeLacking.run(client)
  const changes = await deactivateLacking(client)
  await catalog.countBatchScopes.run(client)
  return changes
}
