import type { CatalogChanges } from '../../documents/catalog-line.ts'
import { noteAction } from '../../core/database/actions.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'

export type CatalogKind = keyof CatalogChanges

/** An object with a value for each kind of thing in the catalog. */
export function ofEachKind<T>(valueOf: (kind: CatalogKind) => T): Record<CatalogKind, T> {
  return {
    organizations: valueOf('organizations'),
    documents: valueOf('documents'),
    annotations: valueOf('annotations'),
    userGroups: valueOf('userGroups'),
  }
}

const NOTHING = { added: 0, reactivated: 0, deactivated: 0, renamed: 0 }
/** What is said where all was as it was asked for. */
export const NO_CHANGES: CatalogChanges = ofEachKind(() => NOTHING)

/** Begins to change the catalog, in the caller's transaction: no other change goes on beside it. */
export async function beginCatalogChange(client: Client): Promise<void> {
  await client.query(`set local work_mem = '64MB'; set local statement_timeout = 0`)
  await catalog.lock.run(client)
  await catalog.createStaging.run(client)
}

/** Deactivates what is staged as lacking. Batches are to be counted after it. */
export async function deactivateLacking(client: Client): Promise<CatalogChanges> {
  const deactivated = await catalog.deactivate.one(client)
  return ofEachKind((kind) => ({ ...NOTHING, deactivated: deactivated[kind] }))
}

/**
 * Deactivates scopes, and what is beneath them, in one transaction. A row in the table of imports says so, where any was
 * active.
 * @param keys of what is named
 * @param by.lines how many lines named it
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
    if (countChanges(done).went > 0) await noteImport(client, { ...by, prunes: null }, done)
    return done
  })
  await analyzeWhereLarge(database, changes)
  return changes
}

/** Stands for a user where the nightly run refreshes the catalog: that is not an action. */
export const BY_SCHEDULE = 'schedule'

/** Notes what an import changed: in the table of imports, and as an action where a user or program changed something. */
export async function noteImport(
  client: Client,
  by: { source: string; requestedBy: string; prunes: boolean | null; lines: number },
  changes: CatalogChanges,
): Promise<void> {
  const { came, went } = countChanges(changes)
  await catalog.insertImport.run(client, { ...by, came, went })
  if (came + went === 0 || by.requestedBy === BY_SCHEDULE) return
  const target = `${by.source}: ${came} added, ${went} removed`
  await noteAction(client, by.requestedBy, 'catalog_changed', { target })
}

/** How many scopes came, or came back, and how many went. */
export function countChanges(changes: CatalogChanges): { came: number; went: number } {
  let [came, went] = [0, 0]
  ofEachKind((kind) => {
    const { added, reactivated, deactivated } = changes[kind]
    came += added + reactivated
    went += deactivated
  })
  return { came, went }
}

/** In scopes. */
const LARGE_CHANGE = 1000

/** After a change of many scopes the server's own statistics would mislead its plans until it counts again. */
export async function analyzeWhereLarge(on: On, changes: CatalogChanges): Promise<void> {
  const { came, went } = countChanges(changes)
  if (came + went >= LARGE_CHANGE) await catalog.analyze.run(on)
}
