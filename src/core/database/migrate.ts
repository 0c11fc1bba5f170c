import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pRetry from 'p-retry'
import { EnvironmentError } from '../../base/errors.ts'
import { version } from '../../base/version.ts'
import { estimateRewritten, requireTimeZone, setDefinitions } from './definitions.ts'
import type { Definitions } from './definitions.ts'
import { checkDatabase, codeOf, describeDatabase } from './connection-errors.ts'
import { openDatabase, retryConflicts, transactionOn } from './pool.ts'
import type { Client } from './pool.ts'
import { resetRestored } from './restored.ts'
import { INSUFFICIENT_PRIVILEGE, readTables, requireMigratable } from './schema.ts'
import type { Migration, Tables } from './schema.ts'
import * as migrations from './statements/migrations.ts'
import { deriveWritten } from './written.ts'
import type { OnDerived } from './written.ts'

/** What {@link migrate} did. */
export type Migrated = Awaited<ReturnType<typeof migrate>>

/**
 * Brings the tables to this program's version, all pending migrations in one transaction, and sets up
 * the role `collab_reader`. Safe to repeat, and to run from several machines at once: they wait for
 * each other. A migration that fails leaves everything as it was.
 * @param url of the database, by a role that may create schemas in it; no superuser right is needed
 * @param definitions of terms of reports from now on; unchanged when left out
 * @param options.onDerived called with the progress while it derives again when stored comments were written
 * @param options.signal breaks the connection: a migration that has not ended is undone
 * @throws EnvironmentError where the server, the role's rights or the tables' version do not allow it; UsageError where
 *   PostgreSQL does not know the time zone
 */
export async function migrate(
  url: string,
  definitions?: Definitions,
  {
    onDerived = () => {},
    signal,
  }: { onDerived?: OnDerived; signal?: AbortSignal | undefined } = {},
) {
  const database = openDatabase(url, { max: 1, applicationName: 'migrate', signal })
  try {
    await checkDatabase(database)
    if (definitions !== undefined) await requireTimeZone(database, definitions)
    const client = await database.connect()
    try {
      // Table of migrations, migrations and role under one lock of the session; closing the connection gives it back.
      await client.query('set statement_timeout = 0')
      await client.query('select pg_advisory_lock($1)', [MIGRATE_LOCK])
      const tables = await readTables(client)
      requireMigratable(tables)
      await applyPending(client, tables, describeDatabase(database))
      const privacy =
        definitions === undefined
          ? []
          : await transactionOn(client, () => setDefinitions(client, definitions))
      const exclusion = privacy.find(({ setting }) => setting === 'PRIVACY_EXCLUDE')
      const rewritten = exclusion === undefined ? [] : await estimateRewritten(client, exclusion)
      await retryConflicts(() => transactionOn(client, () => resetRestored(client)))
      return {
        /** Names of the migrations that were applied now, in order; empty when the tables were up to date. */
        applied: tables.pending.map(({ name }) => name),
        readerRole: await grantReaderRole(client),
        /** What was derived again of stored comments; null if no definition changed that it depends on. */
        derived: await deriveWritten(client, onDerived),
        /** What changed of what is stored of records. */
        privacy,
        /** About how many records the next run writes again because PRIVACY_EXCLUDE changed. */
        rewritten,
      }
    } finally {
      client.release(true)
    }
  } finally {
    await database.end()
  }
}

const READER_ROLE = fileURLToPath(import.meta.resolve('#sql/roles/collab_reader.sql'))
const MIGRATE_LOCK = 4_013_071_001

/** Other sessions wait behind a migration that waits for a lock, so that it gives up soon and tries again later. */
const LOCK_TIMEOUT = '5s'
const LOCK_NOT_AVAILABLE = '55P03'

async function applyPending(
  client: Client,
  { state, pending }: Tables,
  place: string,
): Promise<void> {
  let at: Migration | undefined
  const apply = () =>
    transactionOn(client, async () => {
      await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
      for (const migration of pending) {
        at = migration
        await client.query(migration.sql)
        await migrations.record.run(client, { ...migration, version: version() })
      }
    })
  try {
    await pRetry(apply, {
      retries: 3,
      minTimeout: 1_000,
      shouldRetry: ({ error }) => codeOf(error) === LOCK_NOT_AVAILABLE,
    })
  } catch (cause) {
    const code = codeOf(cause)
    const name = at?.name ?? ''
    const message =
      state === 'missing' && code === INSUFFICIENT_PRIVILEGE
        ? `The role in DATABASE_URL may not create schemas at ${place}. Make it the database's owner, or \`grant create on database\` to it.`
        : code === LOCK_NOT_AVAILABLE
          ? `The migration ${name} waited four times for ${LOCK_TIMEOUT} for a lock of another session, and nothing was changed. Run \`collab-sync migrate\` again when no long transaction is open (pg_stat_activity shows them).`
          : `The migration ${name} failed, and nothing was changed: ${(cause as Error).message}.`
    throw new EnvironmentError(message, { cause })
  }
}

/** @returns `granted` is false where this role may not create or grant it; `statements` then do it */
async function grantReaderRole(client: Client): Promise<{ granted: boolean; statements?: string }> {
  const statements = readFileSync(READER_ROLE, 'utf8')
  try {
    await transactionOn(client, () => client.query(statements))
    return { granted: true }
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
    return { granted: false, statements }
  }
}
