import type { Database } from '../../core/database/pool.ts'
import * as server from '../../core/database/statements/server.ts'
import { warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** PostgreSQL records the version of a database's collation since then. */
const FIRST_VERSION = 15

/**
 * Warns where an upgrade of the operating system or of ICU changed how the server sorts texts: indexes made before are in another
 * order, so that a lookup may miss rows and a unique index may hold a text twice.
 * @param version of the server, such as `15.4`
 */
export async function checkCollation(database: Database, version: string): Promise<Finding[]> {
  if (Number.parseInt(version) < FIRST_VERSION) return []
  const { databaseName, madeWith, now, isChanged } = await server.collation.one(database)
  if (!isChanged) return []
  return [
    warn(
      'collation',
      `the indexes of this database were made with version ${madeWith} of its collation, and the server now sorts by version ${now}`,
      `stop the workers, then in psql: reindex database ${databaseName}; alter database ${databaseName} refresh collation version;`,
    ),
  ]
}
