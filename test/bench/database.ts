import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSource } from '../../src/features/catalog/file.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { World } from '../../src/demo/world.ts'
import type { Servers } from './servers.ts'

export interface BenchDatabase {
  readonly url: string
  readonly pool: Database
  /** Waits until no session but those of `pool` is open. */
  othersAreGone(): Promise<void>
  drop(): Promise<void>
}

/** A new database with our tables and the catalog of a file. */
export async function createBenchDatabase(
  servers: Servers,
  catalogFile: string,
): Promise<BenchDatabase> {
  const database = await createEmptyDatabase(servers)
  const options = { prune: false, redaction: readNameRedaction }
  await importCatalog(database.pool, fileSource(catalogFile), options)
  return database
}

/** A new database with our tables. */
export async function createEmptyDatabase({ admin, urlOf }: Servers): Promise<BenchDatabase> {
  const name = `cs_bench_${randomBytes(5).toString('hex')}`
  await admin.query(`create database ${name}`)
  const url = urlOf(name)
  await migrate(url)
  const gone = () => othersAreGone(admin, name)
  const pool = openDatabase(url, { applicationName: 'bench' })
  return {
    url,
    pool,
    othersAreGone: gone,
    async drop() {
      await pool.end()
      await gone()
      await admin.query(`drop database ${name} with (force)`)
    },
  }
}

/** A database with the catalog of a world, for runs that answer from memory. */
export async function createDatabaseOf(servers: Servers, world: World): Promise<BenchDatabase> {
  const file = join(tmpdir(), `collab-sync-bench-${process.pid}-memory.ndjson`)
  await writeFile(file, [...catalogLines(world)].map((line) => JSON.stringify(line)).join('\n'))
  try {
    return await createBenchDatabase(servers, file)
  } finally {
    await rm(file, { force: true })
  }
}

/** So rarely that polling takes nothing from what is measured: `finished_at` says when a run ended. */
const POLL_EVERY_MS = 25

/** Waits for the end of a run. @returns its row @throws unless it succeeded */
export async function untilSucceeded(database: Database, runId: string) {
  for (;;) {
    const { rows } = await database.query('select * from sync.runs where run_id = $1', [runId])
    const { status, problem, finished_at: finishedAt } = rows[0]
    if (status === 'succeeded') return rows[0]
    if (finishedAt !== null) throw new Error(`Run ${runId} ${status}: ${problem}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  }
}

/** A queue that was closed may still be saying goodbye, and a connection that is cut would end this process. */
async function othersAreGone(admin: Servers['admin'], database: string): Promise<void> {
  for (let check = 0; check < 60; check++) {
    const { rowCount } = await admin.query(
      `select from pg_stat_activity where datname = $1 and application_name not like 'collab-sync bench %'`,
      [database],
    )
    if (rowCount === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * Bytes of WAL that the server writes while `work` runs.
 * @param options.checkpoint true (default) for a checkpoint before it, so that each page that is touched is logged whole
 */
export async function walOf<T>(
  { admin }: Pick<Servers, 'admin'>,
  work: () => Promise<T>,
  options: { checkpoint: boolean } = { checkpoint: true },
): Promise<{ walBytes: number; result: T }> {
  if (options.checkpoint) await admin.query('checkpoint')
  const before = await admin.query('select pg_current_wal_insert_lsn() as at')
  const result = await work()
  const { rows } = await admin.query('select pg_current_wal_insert_lsn() - $1::pg_lsn as bytes', [
    before.rows[0].at,
  ])
  return { walBytes: Number(rows[0].bytes), result }
}
