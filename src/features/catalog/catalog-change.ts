import type { CatalogChanges } from '../../schemas/catalog-line.ts'
import { noteAction } from '../../core/database/actions.ts'
import { lock } from '../../core/database/locks.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'

export type CatalogKind = keyof CatalogChanges

/** An object with a value for each kind of catalog entry. */
export function ofEachKind<T>(valueOf: (kind: CatalogKind) => T): Record<CatalogKind, T> {
  return {
    organizations: valueOf('organizations'),
    documents: valueOf('documents'),
    annotations: valueOf('annotations'),
    userGroups: valueOf('userGroups'),
  }
}

const NOTHING = { added: 0, reactivated: 0, deactivated: 0, renamed: 0 }
export const NO_CHANGES: CatalogChanges = ofEachKind(() => NOTHING)

/** Locks the catalog against other changes until the caller's transaction ends. */
export async function beginCatalogChange(client: Client): Promise<void> {
  await client.query(`set local work_mem = '64MB'; set local statement_timeout = 0`)
  await lock(client, 'catalog')
  await catalog.createStaging.run(client)
}

/** Deactivates the scopes that are staged as lacking. Afterwards, callers count the scopes of batches again. */
export async function deactivateLacking(client: Client): Promise<CatalogChanges> {
  const deactivated = await catalog.deactivate.one(client)
  return ofEachKind((kind) => ({ ...NOTHING, deactivated: deactivated[kind] }))
}

/**
 * Deactivates scopes and those beneath them, in one transaction, and records that in `sync.catalog_imports` if any was active.
 * @param by.lines number of lines that name them
 */
export async function removeScopes(
  database: Database,
  keys: Record<'organizationKey' | 'documentKey' | 'annotationKey' | 'userGroupKey', number[]>,
  by: { readonly source: string; readonly requestedBy: string; readonly lines: number },
): Promise<CatalogChanges> {
  const changes = await transaction(database, async (client) => {
    await beginCatalogChange(client)
    await catalog.stageRemoved.run(client, keys)
    await catalog.analyzeLacking.run(client)
    const done = await deactivateLacking(client)
    await catalog.countBatchScopes.run(client)
    if (countChanges(done).removed > 0) await noteImport(client, { ...by, prunes: null }, done)
    return done
  })
  await analyzeWhereLarge(database, changes)
  return changes
}

/** Replaces a user if the nightly run refreshes the catalog, which is not an action of `history`. */
export const BY_SCHEDULE = 'schedule'

/** Records an import, also as an action if a user or program changed something. */
export async function noteImport(
  client: Client,
  by: { source: string; requestedBy: string; prunes: boolean | null; lines: number },
  changes: CatalogChanges,
): Promise<void> {
  const { added, removed, renamed } = countChanges(changes)
  await catalog.insertImport.run(client, { ...by, added, removed })
  if (added + removed + renamed === 0 || by.requestedBy === BY_SCHEDULE) return
  const target = `${by.source}: ${added} added, ${removed} removed${renamed > 0 ? `, ${renamed} renamed` : ''}`
  await noteAction(client, by.requestedBy, 'catalog_changed', { target })
}

/** The number of scopes that became active, of those that became inactive, and of changed names. */
export function countChanges(changes: CatalogChanges) {
  const counts = { added: 0, removed: 0, renamed: 0 }
  ofEachKind((kind) => {
    const { added, reactivated, deactivated, renamed } = changes[kind]
    counts.added += added + reactivated
    counts.removed += deactivated
    counts.renamed += renamed
  })
  return counts
}

/** Scopes. */
const LARGE_CHANGE = 1000

/** Updates the planner's statistics after a change of many scopes. */
export async function analyzeWhereLarge(on: On, changes: CatalogChanges): Promise<void> {
  const { added, removed } = countChanges(changes)
  if (added + removed >= LARGE_CHANGE) await catalog.analyze.run(on)
}

/** Number of entries of the catalog by kind. */
export type CatalogSize = Awaited<ReturnType<typeof countCatalog>>

/** Counts the catalog; a fraction of a second for a million annotations. */
export async function countCatalog(database: Database) {
  const row = await catalog.count.one(database)
  return {
    active: ofEachKind((kind) => row[kind]),
    /** Entries that left the catalog. They are not fetched, but their rows are kept. */
    inactive: {
      organizations: row.inactiveOrganizations,
      documents: row.inactiveDocuments,
      annotations: row.inactiveAnnotations,
      userGroups: row.inactiveUserGroups,
    },
  }
}
