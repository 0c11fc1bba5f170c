import type { Database } from '../../core/database/pool.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { importCatalog } from './import.ts'
import type { CatalogImport, ImportOptions } from './import.ts'
import { querySource } from './query.ts'
import { processUser } from '../../base/process-user.ts'

/** Limit of the stored message of the user's server. */
const PROBLEM_UNITS_MAX = 1000

/**
 * Imports the rows of CATALOG_SQL. A failure is recorded, and `sync.attention` shows it.
 * @throws what the query or {@link importCatalog} throws
 */
export async function refreshCatalog(
  database: Database,
  query: { readonly url: string; readonly text: string },
  options: ImportOptions,
): Promise<CatalogImport> {
  const source = querySource(query.url, query.text)
  try {
    return await importCatalog(database, source, options)
  } catch (error) {
    const isNoted = error instanceof UsageError || error instanceof EnvironmentError
    if (isNoted && !options.isDryRun)
      await catalog.insertFailedImport.run(database, {
        source: source.name,
        requestedBy: options.requestedBy ?? processUser(),
        problem: error.message.slice(0, PROBLEM_UNITS_MAX).toWellFormed(),
      })
    throw error
  }
}
